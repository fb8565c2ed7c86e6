"""A page of a run for people: one HTML file that needs nothing else, and no network.

What is in it: intervals of `lanes` and of answer streams, the items they come from, places of
`tracks`, proofs, what changed later, facts about the run; `lanes` makes one text of them.
How it looks and works is written in `web/`, and its built form lies in `assets/`.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import islice, zip_longest
from operator import itemgetter
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from horai import io
from horai.engine.answer import Answer as EngineAnswer
from horai.errors import UsageError
from horai.io import (
    AnswerRow,
    AnswerTable,
    DeadLetter,
    ItemTable,
    TermColumn,
    quote_atom,
    to_source,
)
from horai.io.shown import shortened
from horai.io.terms import Term
from horai.plan.lars.dependencies import readings_of
from horai.report.graph import dependency_graph, program_graph
from horai.report.lanes import OPEN, LaneBlock, Pack, blocks_of, lane_block, packed_lanes
from horai.report.tracks import Tracks, packed_map
from horai.result import Result
from horai.runtime.answers import AnswerPart, answer_table
from horai.runtime.lars.answers import PointAnswer, ProgramSpans, Span
from horai.signals import Areas
from horai.temporal.spans import Ints

if TYPE_CHECKING:
    from horai.rules import Rules

MOST_PROOFS = 100


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
    if result.points is not None and result.points.numbered:
        return _choices(pack, result.points.final)
    blocks = [*blocks_of(pack, result.table("spans")), *given_fluents(pack, result)]
    return [Layer("", blocks, list(result.unanswered))], 1


def _spans(layer: Layer) -> list[LaneBlock]:
    return [block for block in layer.blocks if block.end is not None]


def _extent(
    result: Result, layers: Iterable[Layer], items: Iterable[LaneBlock], tracks: Tracks | None
) -> Span:
    """The first time-point that anything on the page has, and the last: query times at least."""
    times = [*result.extent, *(window.query for window in result.metrics.windows)]
    first, last = min(times), max(times)
    for block in [*(block for one in layers for block in one.blocks), *items]:
        if len(block.start):
            first, last = min(first, int(block.start.min())), max(last, int(block.start.max()))
        if block.end is not None:
            closed = block.end[block.end != OPEN]
            last = max(last, int(closed.max(initial=last + 1)) - 1)
    if tracks is not None and len(tracks.time):
        first, last = min(first, int(tracks.time.min())), max(last, int(tracks.time.max()))
    return first, last


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


# --- several answer streams ----------------------------------------------------------------------

# Answer streams of different query times are not each other's: the second one at a query time is
# the second in the order of its atoms, as in all other output.

MOST_STREAMS = 12
"""Of more answer streams the first ones can be chosen, beside what some and all of them say."""


Models = Sequence[Iterable[Any]]


def _choices(pack: Pack, answers: Sequence[PointAnswer]) -> tuple[list[Layer], int]:
    """All there is to choose, and the largest number of answer streams at a query time."""
    most = max((len(answer.models) for answer in answers), default=0)
    chosen: dict[str, Callable[[Models], Models]] = {
        "in every answer stream": lambda models: [set.intersection(*map(set, models))],
        "in some answer stream": lambda models: [set.union(*map(set, models))],
    }
    for number in range(min(most, MOST_STREAMS)):
        place = slice(number, number + 1)
        chosen[f"answer stream {number + 1} of up to {most}"] = itemgetter(place)
    layers = []
    for label, choose in chosen.items():
        points = [
            PointAnswer(one.query, tuple(map(tuple, choose(one.models))) if one.models else ())
            for one in answers
        ]
        spans = ProgramSpans.of(points)
        layers.append(Layer(label, blocks_of(pack, AnswerTable.of(spans.rows())), spans.none))
    return layers, most


# --- the items of the stream ---------------------------------------------------------------------

MOST_ITEMS = 3_000_000
"""Of a stream with more items, a page has counts over time."""
MOST_WITH_ARGUMENTS = 300_000
"""Of a stream with more items, a page leaves out arguments beside the first; it has the lines."""
BINS = 4096


def given_fluents(pack: Pack, result: Result) -> list[LaneBlock]:
    """The fluents of the input, as the engine used them, unless they are in its answers."""
    last = result.steps[-1].raw if result.steps else None
    if not isinstance(last, EngineAnswer) or not last.has("input"):
        return []
    table = answer_table([AnswerPart(last.part("input"))], last.symbols, lambda *_: True)
    blocks = blocks_of(pack, table.only("fluent"))
    return [replace(block, kind="input") for block in blocks]


def item_blocks(pack: Pack, tables: Iterable[ItemTable]) -> tuple[list[LaneBlock], str]:
    """Events and retractions by type and first argument; and in how much detail.

    The detail is `full`, `times` without further arguments, or `counts`. Intervals and values that
    are given are no points; the run has them among its intervals.
    """
    some = [table for table in tables if len(table)]
    number = sum(map(len, some))
    if number > MOST_ITEMS:
        return [_counts(pack, table, some) for table in some], "counts"
    full = number <= MOST_WITH_ARGUMENTS
    blocks = [block for table in some for block in _points(pack, table, full)]
    return blocks, "full" if full else "times"


def _points(pack: Pack, table: ItemTable, full: bool) -> Iterator[LaneBlock]:
    op = _numbers(table, "op")
    for kind, rows in (("item", np.flatnonzero(op > 0)), ("retraction", np.flatnonzero(op < 0))):
        if not len(rows) or (table.kind == "fluent" and kind == "item"):
            continue
        some = pa.array(rows)
        args = [table.column(f"a{i}").take(some) for i in range(table.arity)]
        if table.kind == "fluent":
            args.append(table.column("value").take(some))
        files = table.table.column("file").combine_chunks()
        names = np.array([pack.text(name) for name in files.dictionary.to_pylist()], np.int64)
        yield lane_block(
            *(pack, kind, table.name),
            *(args[:1], None),
            _numbers(table, "start")[rows],
            more={
                "file": names[files.indices.to_numpy()[rows]],
                "line": _numbers(table, "line")[rows],
                "arrival": _numbers(table, "arrival")[rows],
            },
            arguments=args[1:] if full else (),
        )


def _counts(pack: Pack, table: ItemTable, tables: list[ItemTable]) -> LaneBlock:
    """How many items of a type there are in each of many parts of the whole time."""
    first = min(int(_numbers(one, "start").min()) for one in tables)
    last = max(int(_numbers(one, "start").max()) for one in tables)
    width = max(1, -(-(last + 1 - first) // BINS))
    counts = np.bincount((_numbers(table, "start") - first) // width)
    bins = np.flatnonzero(counts)
    nothing: tuple[TermColumn, ...] = ()
    start = first + bins * width
    return lane_block(
        *(pack, "item", table.name, nothing, None, start), more={"weight": counts[bins]}
    )


def _numbers(table: ItemTable, name: str) -> Ints:
    numbers: Ints = table.table.column(name).to_numpy()
    return numbers


# --- proofs --------------------------------------------------------------------------------------

# A page has a number of them, because all would make it large: the first intervals of each fluent
# in turn, of one entity after the other, so that every rule has a chance to be seen at work. Atoms
# of programs are worked out by the definition, which may be slow: the time has a limit, too.

MOST_SECONDS = 20
"""So much CPU time may all proofs of a page take; one that has begun comes to its end."""
DEPTH = 8


Candidate = tuple[int, str, int]
"""An interval: the number of its row on the page, what holds, and from when on."""


def packed_proofs(
    pack: Pack, result: Result, blocks: Sequence[LaneBlock], most: int
) -> dict[str, Any] | None:
    """Proofs by the number of their row, None without any; `blocks` are all intervals."""
    found: dict[int, dict[str, Any]] = {}
    until = process_time() + MOST_SECONDS
    for row, text, start in islice(_in_turn(pack.texts, blocks), most):
        if process_time() > until:
            break
        try:
            found[row] = result.why(text, at=start, depth=DEPTH).to_dict()
        except UsageError:
            continue  # a window has let go of what is behind it, or the run keeps no items
    return {"number": len(found), "trees": found} if found else None


def _in_turn(texts: Sequence[str], blocks: Sequence[LaneBlock]) -> Iterator[Candidate]:
    """The first interval of each fluent or predicate, the second of each, and so on."""
    row, turns = 0, []
    for block in blocks:
        if block.kind in ("fluent", "atom"):
            turns.append(_candidates(texts, block, row))
        row += len(block.start)
    for some in zip_longest(*turns):
        yield from filter(None, some)


def _candidates(texts: Sequence[str], block: LaneBlock, first: int) -> Iterator[Candidate]:
    """The first interval of each lane, then the second of each, and so on."""
    lanes = [0, *block.rows.cumsum().tolist()]
    for turn in range(int(block.rows.max(initial=0))):
        for lane, begin in enumerate(lanes[:-1]):
            if begin + turn < lanes[lane + 1]:
                start = int(block.start[begin + turn])
                yield first + begin + turn, _text(texts, block, lane), start


def _text(texts: Sequence[str], block: LaneBlock, lane: int) -> str:
    args = ",".join(texts[column[lane]] for column in block.args)
    name = quote_atom(block.name) + (f"({args})" if args else "")
    return name if block.value is None else f"{name}={texts[block.value[lane]]}"


# --- facts about the run -------------------------------------------------------------------------

MOST_LETTERS = 10_000
"""Of more dead letters the first ones are listed; all are counted."""
_COUNTS = ("on_time", "late", "too_late", "retracted", "outside_run", "revised")


def about(result: Result, rules: Sequence[str], command: str) -> dict[str, Any]:
    """Which rules ran how, and what became of the items."""
    run = asdict(result.metrics.run)
    return {
        "rules": list(rules),
        "language": result.rules.language,
        "engine": result.engine,
        "reasons": result.reasons,
        "command": command,
        "items": {**run, "judged": result.metrics.run.judged, "unused": result.metrics.run.unused},
    }


def queries(pack: Pack, result: Result, base: int) -> dict[str, Any]:
    """The query times, and what became of items at each."""
    windows = result.metrics.windows
    times = [window.query for window in windows] or [answer.query for answer in result.answers]
    found: dict[str, Any] = {"time": pack.column(np.array(times, np.int64) - base, delta=True)}
    for name in _COUNTS:
        counts = [getattr(window, name) for window in windows]
        if counts and None not in counts:
            found[name] = pack.column(np.array(counts, np.int64))
    return found


def diagnostics(result: Result) -> list[dict[str, Any]]:
    """The findings about the rules, and those of the run."""
    return [finding.as_json() for finding in [*result.rules.warnings, *result.warnings]]


def letters(dead: Sequence[DeadLetter]) -> dict[str, Any]:
    """The rows that were not used, and why."""
    return {
        "number": len(dead),
        "codes": Counter(letter.code for letter in dead),
        "rows": [
            [letter.file, letter.line, letter.code, letter.reason, shortened(letter.text)]
            for letter in dead[:MOST_LETTERS]
        ],
    }


def graphs(rules: Rules) -> list[dict[str, Any]]:
    """What depends on what: in the description, and in the program."""
    drawings = []
    if rules.language != "lars":
        drawings.append(dependency_graph(rules.description, True))
    if rules.language != "ec":
        drawings.append(program_graph(readings_of(rules.program, True)))
    return [asdict(drawing) for drawing in drawings if drawing.nodes or drawing.boxes]


# --- revisions -----------------------------------------------------------------------------------

# An interval that was open at a query time, or ended with the run so far, goes on as time does: to
# be longer at the next query time is no revision.

MOST_REVISIONS = 2_000
"""Of more revisions the first ones are listed; all are counted."""
Key = tuple[int | None, str, tuple[str, ...], str | None]


def packed_revisions(pack: Pack, result: Result, base: int) -> dict[str, Any]:
    """How many there are, and what became of what."""
    points = result.points
    # Of points that are not revised, each query time has one answer.
    is_revised = points is None or points.revisable
    try:
        listed = _changes(result.table("changelog")) if is_revised else []
    except UsageError as gone:
        return {"known": False, "reason": gone.problem}
    queries = sorted({row.query for row in listed if row.query is not None})
    before = dict(zip(queries[1:], queries, strict=False))
    came: dict[Key, list[AnswerRow]] = {}
    for row in listed:
        if row.op == "+":
            came.setdefault(_key(row), []).append(row)
    found, went_on = [], 0
    for row in listed:
        if row.op != "-":
            continue
        now = came.get(_key(row), [])
        known = before.get(row.query or 0, row.query or 0)
        if any(new.start == row.start and _later(row, known) and _later(new, known) for new in now):
            went_on += 1
            continue
        found.append((row, [new for new in now if _meets(row, new)]))
    return {
        "known": True,
        "number": len(found),
        "wentOn": went_on,
        "rows": [_told(pack, row, now, base) for row, now in found[:MOST_REVISIONS]],
    }


def _changes(changes: AnswerTable) -> list[AnswerRow]:
    """The rows of changes, if anything was taken back at all."""
    gone = [block for block in changes.blocks if block.op is not None]
    if not any("-" in block.op.to_pylist() for block in gone if block.op is not None):
        return []
    return [row for row in changes.rows() if row.kind in ("fluent", "atom", "event")]


def _key(row: AnswerRow) -> Key:
    value = None if row.value is None else to_source(row.value)
    return (row.query, row.name, tuple(map(to_source, row.args)), value)


def _later(row: AnswerRow, query: int) -> bool:
    return row.kind != "event" and (row.end is None or row.end > query)


def _meets(old: AnswerRow, new: AnswerRow) -> bool:
    if old.kind == "event":
        return False
    ends = [float("inf") if row.end is None else row.end for row in (old, new)]
    starts = [row.start or 0 for row in (old, new)]
    return starts[0] < ends[1] and starts[1] < ends[0]


def _told(pack: Pack, row: AnswerRow, now: list[AnswerRow], base: int) -> dict[str, Any]:
    return {
        "query": (row.arrived or row.query or 0) - base,
        "text": pack.text(text_of(row.name, row.args, row.value)),
        "was": _span(row, base),
        "now": [_span(new, base) for new in now],
    }


def _span(row: AnswerRow, base: int) -> list[int | None]:
    start = row.time if row.start is None else row.start
    point = (row.query or 0) if start is None else start
    if row.kind == "event" or start is None:
        return [point - base, point + 1 - base]
    return [point - base, None if row.end is None else row.end - base]


def text_of(name: str, args: Any, value: Term | None) -> str:
    """A fluent and its value, an atom or an event, as rules write it."""
    listed = ",".join(map(to_source, args))
    told = f"{name}({listed})" if args else name
    return told if value is None else f"{told}={to_source(value)}"
