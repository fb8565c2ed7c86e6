"""Pages read back: what a reader of the page has before him, decoded without any browser."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np


def data_of(page: str) -> dict[str, Any]:
    """The container in a page, with its columns as lists."""
    found = re.search(r'<script type="application/octet-stream" id="data">([^<]*)</script>', page)
    assert found is not None
    raw = zlib.decompress(base64.b64decode(found[1]))
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    plain = _plain(header, raw[8 + length :])
    assert isinstance(plain, dict)
    return plain


def _plain(value: Any, columns: bytes) -> Any:
    if isinstance(value, list):
        return [_plain(one, columns) for one in value]
    if not isinstance(value, dict):
        return value
    if "$" not in value:
        return {key: _plain(one, columns) for key, one in value.items()}
    at, rows, kind, delta = value["$"]
    column = np.frombuffer(columns, f"<{kind}", rows, at)
    return (np.cumsum(column, dtype=column.dtype) if delta else column).tolist()


def lanes(data: dict[str, Any], packed: dict[str, Any]) -> Iterator[tuple[str, str, range]]:
    """Kind, label and rows of each lane, as the page names it."""
    texts, row, number = data["texts"], 0, 0
    for block in packed["blocks"]:
        for place in range(block["lanes"]):
            args = ",".join(texts[column[place]] for column in block["args"])
            name = texts[block["name"]] + (f"({args})" if args else "")
            value = block["value"]
            label = name if value is None else f"{name}={texts[value[place]]}"
            many = packed["rows"][number]
            yield block["kind"], label, range(row, row + many)
            row, number = row + many, number + 1


def spans_of(page: str, layer: int = 0) -> dict[str, list[tuple[int, int | None]]]:
    """The intervals of each lane; None is an open end."""
    data = data_of(page)
    packed, base = data["layers"][layer]["spans"], int(data["time"]["base"])
    found = {}
    for _, label, rows in lanes(data, packed):
        starts = [base + packed["start"][row] for row in rows]
        lengths = [packed["length"][row] for row in rows]
        found[label] = [(s, s + n if n else None) for s, n in zip(starts, lengths, strict=True)]
    return found


def points_of(page: str) -> dict[str, list[int]]:
    """The times of each lane of derived events."""
    data = data_of(page)
    packed, base = data["layers"][0]["points"], int(data["time"]["base"])
    starts = packed["start"]
    return {label: [base + starts[row] for row in rows] for _, label, rows in lanes(data, packed)}


def items_of(page: str) -> dict[str, list[int]]:
    """The times of each lane of items."""
    data = data_of(page)
    packed, base = data["items"], int(data["time"]["base"])
    starts = packed["start"]
    return {
        f"{kind} {label}": [base + starts[row] for row in rows]
        for kind, label, rows in lanes(data, packed)
    }
