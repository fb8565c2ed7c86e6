"""Engines beside the reference engine: the same at every query time, or why not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import event
from tests.engine.itemtables import row

from horai import io
from horai.engine.answer import Answer, Which, events_of, spans_of
from horai.errors import UsageError
from horai.lang.core.printer import show
from horai.lang.core.reader import read_term
from horai.lang.core.terms import Term
from horai.lang.ec.errors import EngineError
from horai.lang.ec.reader import read_text
from horai.lang.ec.syntax import EventDescription
from horai.oracle.ec.session import OracleAnswer as Expected
from horai.oracle.ec.session import OracleItem
from horai.oracle.ec.session import OracleSession as Reference
from horai.runtime.compiled import CompiledEngine
from horai.runtime.engines import EngineSession

NO_INSTRUCTIONS = "the compiled engine has no instructions for "
Predicates = Mapping[str, Callable[..., object]]
Lines = list[str]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a run is asked, beside its description and its items."""

    queries: Sequence[int]
    window: int | None = None
    tick: int = 1
    start: int = 0
    allen_memory: int | None = None
    predicates: Predicates | None = None

    def options(self) -> dict[str, Any]:
        """As keywords of a session."""
        return {
            "start": self.start,
            "window": self.window,
            "tick": self.tick,
            "allen_memory": self.allen_memory,
            "predicates": self.predicates,
        }


def at(event: str, time: int, arrival: int | None = None, retract: bool = False) -> OracleItem:
    """An event, which arrives at once unless said otherwise."""
    return OracleItem(
        read_term(event), None, time, time, time if arrival is None else arrival, retract=retract
    )


def over(pair: str, start: int, end: int, arrival: int | None = None) -> OracleItem:
    """An input fluent over an interval."""
    fluent, value = (read_term(part) for part in pair.split("="))
    return OracleItem(fluent, value, start, end, start if arrival is None else arrival)


@contextmanager
def if_there_are_instructions() -> Iterator[None]:
    """Rules that the engine refuses when they are loaded are not compared."""
    try:
        yield
    except UsageError as error:
        assert NO_INSTRUCTIONS in str(error)
        event("refused")
        return
    event("ran")


def agree(text: str, items: Sequence[OracleItem], setting: Setting) -> None:
    """The engine gives the answers of the reference."""
    found = differences(text, items, setting)
    assert found is None, found


def read(text: str) -> EventDescription:
    """A description that is known to be legal."""
    return read_text(text)[0]


def tables_of(items: Iterable[OracleItem]) -> list[io.ItemTable]:
    """Items as Arrow tables; the tag of each is its line."""
    rows = [row(item, item.tag if isinstance(item.tag, int) else 1) for item in items]
    return list(io.Narrative.from_items(rows).tables)


def batches_of(items: Sequence[OracleItem], queries: Sequence[int]) -> list[list[OracleItem]]:
    """What becomes known by each query time; what arrives after the last one comes with it."""
    found: list[list[OracleItem]] = [[] for _ in queries]
    for item in items:
        place = next((n for n, q in enumerate(queries) if item.arrival <= q), len(queries) - 1)
        found[place].append(item)
    return found


def differences(
    text: str,
    items: Sequence[OracleItem],
    setting: Setting,
    engine: Callable[..., EngineSession] = CompiledEngine,
) -> str | None:
    """How an engine and the reference differ over a run; None if they do not."""
    description = read(text)
    items = [replace(item, tag=number) for number, item in enumerate(items, 1)]
    reference = Reference(description, **setting.options())
    session: EngineSession | None = None
    for query, batch in zip(setting.queries, batches_of(items, setting.queries), strict=True):
        refused: EngineError | None = None
        try:
            expected = reference.advance(query, batch)
        except EngineError as error:
            refused = error
        try:
            session = session or engine(description, **setting.options())
            answer = session.advance(query, tables_of(batch))
            found = seen(answer)
        except EngineError as error:
            if refused is None:
                return f"the engine refused at {query}: {type(error).__name__} {error}"
            return None
        if refused is not None:
            return f"only the reference refused at {query}: {type(refused).__name__} {refused}"
        wanted = expectation(expected)
        for part, told in wanted.items():
            if part in found and found[part] != told:
                return f"`{part}` differs at {query}:{_beside(told, found[part])}"
        lost = sorted(f"{d.reason} {_told(d.item)}" for d in expected.dropped)
        lost_too = sorted(f"{d.reason} {_told(items[d.line - 1])}" for d in answer.dropped)
        if lost != lost_too:
            return f"dropped items differ at {query}:{_beside(lost, lost_too)}"
    return None


def seen(answer: Answer) -> dict[Which, Lines]:
    """The parts of an answer as sorted lines; without an archive there is no `all`."""
    parts: tuple[Which, ...] = ("all", "window", "new", "gone")
    return {which: lines(answer, which) for which in parts if answer.has(which)}


def lines(answer: Answer, which: Which) -> Lines:
    """One part of an answer as sorted lines."""
    part = answer.part(which)
    spans, events = spans_of(part, answer.symbols), events_of(part, answer.symbols)
    return sorted([*_span_lines(spans.items()), *_event_lines(events.items())])


def expectation(answer: Expected) -> dict[Which, Lines]:
    """The same of the reference engine."""
    new = [((f, v), [one]) for f, v, one in answer.new_spans]
    gone = [((f, v), [one]) for f, v, one in answer.gone_spans]
    new_events = [(e, [t]) for e, t in answer.new_events]
    gone_events = [(e, [t]) for e, t in answer.gone_events]
    return {
        "all": sorted(
            [*_span_lines(answer.all_spans.items()), *_event_lines(answer.all_events.items())]
        ),
        "window": sorted(
            [*_span_lines(answer.spans.items()), *_event_lines(answer.events.items())]
        ),
        "new": sorted([*_span_lines(new), *_event_lines(new_events)]),
        "gone": sorted([*_span_lines(gone), *_event_lines(gone_events)]),
    }


def _span_lines(
    spans: Iterable[tuple[tuple[Term, Term], Sequence[tuple[float, float]]]],
) -> Lines:
    return [
        f"{show(fluent)}={show(value)} ({start},{end})"
        for (fluent, value), intervals in spans
        for start, end in intervals
    ]


def _event_lines(events: Iterable[tuple[Term, Sequence[int]]]) -> Lines:
    return [f"{show(event)} at {t}" for event, times in events for t in times]


def _told(item: OracleItem) -> str:
    value = "" if item.value is None else f"={show(item.value)}"
    sign = "-" if item.retract else ""
    return f"{sign}{show(item.entity)}{value} ({item.start},{item.end}) arrival {item.arrival}"


def _beside(wanted: Lines, found: Lines) -> str:
    missing = [f"\n  - {line}" for line in wanted if line not in found]
    extra = [f"\n  + {line}" for line in found if line not in wanted]
    if not missing and not extra:
        return f" repeated lines\n  - {wanted}\n  + {found}"
    return "".join([*missing, *extra])
