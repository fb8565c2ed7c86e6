"""Columns and texts of a page, packed: one container of typed arrays, compressed, as base64.

The container is the length of a header, the header as JSON, and the columns one after the other.
Wherever the header has `{"$": [at, rows, type, delta]}`, the page puts a typed array. Everything a
stream says is in it, so no name of a stream ever stands in the page as HTML.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from horai.io import Term, to_source
from horai.temporal.spans import Ints

LARGEST = 2**53
"""Up to here JavaScript knows each whole number."""


class Pack:
    """What a page shows, as columns and as texts that are numbered."""

    def __init__(self) -> None:
        self._columns: list[bytes] = []
        self._size = 0
        self._texts: dict[str, int] = {}

    def column(self, values: Ints, *, delta: bool = False) -> dict[str, Any]:
        """A column of whole numbers from 0 on, in as few bytes as hold them.

        With `delta` it is kept as differences, which take less room where values grow.
        """
        most = int(values.max(initial=0))
        kind = next((k for k in ("u1", "u2", "u4") if most <= np.iinfo(k).max), "f8")
        if delta and kind != "f8":
            kept = np.diff(values, prepend=0).astype(np.int64) & np.iinfo(kind).max
            return self._add(kept.astype(f"<{kind}"), True)
        return self._add(values.astype(f"<{kind}"), False)

    def decimals(self, values: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, Any]:
        """A column of decimals."""
        return self._add(values.astype("<f8"), False)

    def _add(self, values: np.ndarray[Any, Any], delta: bool) -> dict[str, Any]:
        data = values.tobytes()
        at, room = self._size, -len(data) % 8  # JavaScript wants columns to begin at such places
        self._columns.append(data + bytes(room))
        self._size += len(data) + room
        return {"$": [at, len(values), values.dtype.str[1:], int(delta)]}

    def text(self, text: str) -> int:
        """The number of a text."""
        return self._texts.setdefault(text, len(self._texts))

    @property
    def texts(self) -> list[str]:
        """The texts by number."""
        return list(self._texts)

    def terms(self, terms: Iterable[Term]) -> Ints:
        """The numbers of terms, as source text."""
        return np.array([self.text(to_source(term)) for term in terms], np.int64)

    def packed(self, header: dict[str, Any]) -> str:
        """The container as text, for a page that has it inside."""
        return base64.b64encode(self.compressed(header)).decode("ascii")

    def compressed(self, header: dict[str, Any]) -> bytes:
        """The container; `header` is what the page makes of it."""
        whole = {**header, "texts": self.texts}
        told = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
        text = told.encode("utf-8", "replace")
        text += b" " * (-(len(text) + 8) % 8)
        parts = [len(text).to_bytes(8, "little"), text, *self._columns]
        return zlib.compress(b"".join(parts), 6)
