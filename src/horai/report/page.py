"""A page of a run for people: one HTML file that needs nothing else, and no network.

What is in it: `lanes` and `streams` have intervals, `items` what they come from, `tracks` places,
`proofs` why, `revisions` what changed later, `facts` all the rest; `pack` makes one text of them.
How it looks and works is written in `web/`, and its built form lies in `assets/`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from horai import io
from horai.report.facts import about, diagnostics, graphs, letters, queries
from horai.report.items import given_fluents, item_blocks
from horai.report.lanes import OPEN, LaneBlock, blocks_of, packed_lanes
from horai.report.pack import Pack
from horai.report.proofs import MOST_PROOFS, packed_proofs
from horai.report.revisions import packed_revisions
from horai.report.streams import choices
from horai.report.tracks import Tracks, packed_map
from horai.result import Result
from horai.runtime.lars.answers import PointAnswers
from horai.signals import Areas

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PageInput:
    """What a page shows beside the answers of a run, as far as there is such.

    `items` is the stream that was read; `tracks` and `areas` are for the map. `command` is the
    beginning of a command line that asks about the same run, such as `horai why rules.ec`; so many
    intervals have `proofs` on the page itself. Who makes many pages of the same rules draws their
    `graphs` once.
    """

    items: io.Narrative | None = None
    tracks: Tracks | None = None
    areas: Areas | None = None
    rules: Sequence[str] = ()
    command: str = ""
    proofs: int = MOST_PROOFS
    graphs: list[dict[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """The lanes of one choice, and where it has no answer."""

    label: str
    blocks: list[LaneBlock]
    none: list[Span]


def write_page(
    result: Result,
    path: Path,
    title: str,
    unit: io.Unit | None = None,
    given: PageInput | None = None,
) -> None:
    """Write the page of a run. With a unit, times are dates and times of day."""
    path.write_text(page(result, title, unit, given), encoding="utf-8")


def page(
    result: Result, title: str, unit: io.Unit | None = None, given: PageInput | None = None
) -> str:
    """The page of a run, as HTML."""
    pack = Pack()
    return _document(title, pack.packed(page_header(pack, result, title, unit, given)))


def page_header(
    pack: Pack,
    result: Result,
    title: str,
    unit: io.Unit | None = None,
    given: PageInput | None = None,
) -> dict[str, Any]:
    """All that the page of a run shows; its columns and texts are in the pack."""
    known = given or PageInput()
    layers, streams = _layers(pack, result)
    found, detail = ([], "none") if known.items is None else item_blocks(pack, known.items.tables)
    events = [[block for block in one.blocks if block.end is None] for one in layers]
    first, last = _extent(result, layers, found, known.tracks)
    return {
        "title": title,
        "time": {"base": str(first), "unit": unit, "last": last - first},
        "about": about(result, known.rules, known.command),
        "layers": [
            {
                "label": one.label,
                "none": [[start - first, end - first] for start, end in one.none],
                "spans": packed_lanes(pack, _spans(one), first),
                "points": packed_lanes(pack, made, first),
            }
            for one, made in zip(layers, events, strict=True)
        ],
        "streams": streams,
        "items": {"detail": detail, **packed_lanes(pack, found, first)},
        "queries": queries(pack, result, first),
        "revisions": packed_revisions(pack, result, first),
        "diagnostics": diagnostics(result),
        "letters": letters(result.dead_letters),
        "proofs": packed_proofs(pack, result, _spans(layers[0]), known.proofs),
        "graphs": graphs(result.rules) if known.graphs is None else known.graphs,
        "map": packed_map(pack, known.tracks, known.areas, first),
    }


def _layers(pack: Pack, result: Result) -> tuple[list[Layer], int]:
    """What can be chosen of a program with several answer streams; else one layer with all."""
    said = [answer.raw for answer in result.steps if isinstance(answer.raw, PointAnswers)]
    if said and any(one.numbered for one in said):
        whole = PointAnswers.together(said)
        found, most = choices(whole)
        return [Layer(one.label, blocks_of(pack, one.table), one.none) for one in found], most
    blocks = [*blocks_of(pack, result.table("spans")), *given_fluents(pack, result)]
    return [Layer("", blocks, list(result.unanswered))], 1


def _spans(layer: Layer) -> list[LaneBlock]:
    return [block for block in layer.blocks if block.end is not None]


def _extent(
    result: Result, layers: Iterable[Layer], items: Iterable[LaneBlock], tracks: Tracks | None
) -> Span:
    """The first time-point that anything on the page has, and the last."""
    first, last = _answered(result)
    for block in [*(block for one in layers for block in one.blocks), *items]:
        if len(block.start):
            first, last = min(first, int(block.start.min())), max(last, int(block.start.max()))
        if block.end is not None:
            closed = block.end[block.end != OPEN]
            last = max(last, int(closed.max(initial=last + 1)) - 1)
    if tracks is not None and len(tracks.time):
        first, last = min(first, int(tracks.time.min())), max(last, int(tracks.time.max()))
    return first, last


def _answered(result: Result) -> Span:
    """The time-points from the first to the last query time."""
    first, last = result.extent
    times = [window.query for window in result.metrics.windows]
    return min([first, *times]), max([last, *times])


def _document(title: str, data: str) -> str:
    """The page. It may run its own script and nothing else, and load nothing from anywhere."""
    assets = files("horai.report").joinpath("assets")
    script, style, body = (
        assets.joinpath(name).read_text(encoding="utf-8")
        for name in ("page.js", "page.css", "page.html")
    )
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{escape(title)}</title>\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{style}</style></head>\n<body>{body}\n"
        f'<script type="application/octet-stream" id="data">{data}</script>\n'
        f"<script>{script}</script></body></html>\n"
    )
