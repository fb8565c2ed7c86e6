"""The stream of columns admits, reports and takes back exactly what the reference stream does."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from hypothesis import event, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.engine.itemtables import Seen, batches, row, seen
from tests.weights import examples

from horai import io
from horai.engine.admission import Stream
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Compound, Constant, Float, Int, Term, make
from horai.oracle.ec.intervals import INF, TickGrid
from horai.oracle.ec.session import AdmittedItems as Reference
from horai.oracle.ec.session import OracleItem

LAST = 40
# Few enough that equal items are common; of all kinds, so that columns differ between batches.
ARGS: list[Term] = [
    Constant("x"),
    Constant("not"),
    Int(1),
    Float(1.0),
    Compound("f", (Constant("x"), Int(2))),
]
VALUES: list[Term] = [Constant("on"), Int(3)]
Letter = tuple[str, int, str, str]  # reason, query, text, where it came from


class Run(NamedTuple):
    """Items in the portions in which they are handed in, one for each query time."""

    tick: int
    start: int
    window: int | None
    queries: list[int]
    portions: list[list[OracleItem]]


@st.composite
def _items(draw: Draw, tick: int) -> OracleItem:
    start = draw(st.integers(-3, LAST))
    arrival = start + draw(st.integers(-25, 0) | st.integers(0, 25))
    retract = draw(st.integers(0, 2)) == 2
    who = draw(st.sampled_from(ARGS[: draw(st.sampled_from([1, len(ARGS)]))]))
    match draw(st.sampled_from(["e", "e0", "i", "i", "point", "e as fluent"])):
        case "e":
            return OracleItem(make("e", who), None, start, start, arrival, retract)
        case "e0":
            return OracleItem(Constant("e0"), None, start, start, arrival, retract)
        case "point":
            return OracleItem(
                make("i", who), Constant("on"), start, TickGrid(tick).next(start), arrival, retract
            )
        case name:
            end = draw(st.sampled_from([start + 1, start + 7, start + 25, INF]))
            value = draw(st.sampled_from(VALUES))
            entity = make("i" if name == "i" else "e", who)
            return OracleItem(entity, value, start, end, arrival, retract)


def _again(draw: Draw, items: list[OracleItem]) -> OracleItem:
    """An item that was there before: a copy, or its retraction."""
    item = draw(st.sampled_from(items))
    arrival = item.arrival + draw(st.integers(-3, 6))
    retract = draw(st.sampled_from([True, True, False]))
    return OracleItem(item.entity, item.value, item.start, item.end, arrival, retract)


@st.composite
def runs(draw: Draw) -> Run:
    tick = draw(st.sampled_from([1, 5]))
    items = draw(st.lists(_items(tick), max_size=12))
    for _ in range(draw(st.integers(0, 20)) if items else 0):
        items.append(_again(draw, items))
    tagged = [
        OracleItem(i.entity, i.value, i.start, i.end, i.arrival, i.retract, n)
        for n, i in enumerate(draw(st.permutations(items)))
    ]
    queries = sorted(draw(st.sets(st.integers(1, LAST + 20), min_size=1, max_size=6)))
    portions: list[list[OracleItem]] = [[] for _ in queries]
    for item in tagged:
        # Before its arrival or long after it: the stream does not rely on the one who feeds it.
        portions[draw(st.integers(0, len(queries) - 1))].append(item)
    window = draw(st.sampled_from([None, 3, 10, 30]))
    return Run(tick, draw(st.sampled_from([0, 0, -5, 12])), window, queries, portions)


class Outcome(NamedTuple):
    occurrences: list[Counter[Seen]]
    letters: list[list[Letter]]


def reference(run: Run) -> Outcome:
    stream = Reference(TickGrid(run.tick), run.start, run.window)
    outcome = Outcome([], [])
    for query, portion in zip(run.queries, run.portions, strict=True):
        dropped = stream.admit(_by_table(portion, run.tick), query)
        if query == run.queries[-1]:
            dropped += stream.left_over(query)
        outcome.letters.append(
            [(d.reason.value, d.query, d.text, str(d.item.tag)) for d in dropped]
        )
        outcome.occurrences.append(
            Counter((o.entity, o.value, o.start, o.end) for o in stream.occurrences())
        )
    return outcome


def _row(item: OracleItem, tick: int) -> io.Item:
    """The row of an item; half of the values that last to the next point are points."""
    assert isinstance(item.tag, int)
    is_point = item.end == TickGrid(tick).next(item.start) and item.tag % 2 == 1
    return row(item, item.tag, "points" if is_point else "intervals")


def _by_table(portion: list[OracleItem], tick: int) -> list[OracleItem]:
    """Tables come one after the other, and within a table rows keep their order."""
    return sorted(portion, key=lambda item: _row(item, tick).key)


def in_columns(run: Run, between: Callable[[Stream], Stream] = lambda stream: stream) -> Outcome:
    stream = Stream(Symbols(), run.tick, run.start, run.window)
    outcome = Outcome([], [])
    for query, portion in zip(run.queries, run.portions, strict=True):
        rows = [_row(item, run.tick) for item in portion]
        dropped = stream.admit(batches(rows, stream.symbols, run.tick), query)
        if query == run.queries[-1]:
            dropped += stream.left_over(query)
        outcome.letters.append([(d.reason.value, d.query, d.text, str(d.line)) for d in dropped])
        outcome.occurrences.append(Counter(seen(stream)))
        stream = between(stream)
    return outcome


def saved_and_loaded(stream: Stream) -> Stream:
    state = pickle.loads(pickle.dumps(stream.to_state()))
    return Stream.from_state(state, Symbols(stream.symbols))


@examples("normal")
@given(runs())
def test_the_stream_of_columns_is_the_reference_stream(run: Run) -> None:
    expected = reference(run)
    for letters in expected.letters:
        for reason, *_ in letters:
            event(reason)
    assert in_columns(run) == expected


@examples("normal")
@given(runs())
def test_a_stream_that_is_saved_and_loaded_goes_on_as_before(run: Run) -> None:
    assert in_columns(run, saved_and_loaded) == reference(run)


@examples("normal")
@given(runs(), st.integers(0, 20))
def test_forgetting_changes_nothing_after_the_border(run: Run, more: int) -> None:
    queries = iter(run.queries)

    def forget(stream: Stream) -> Stream:
        border = stream.border(next(queries))
        # Of one type more is needed than lies after the border, of the others less.
        stream.forget({("e", 1): border - more, ("i", 1): border + more})
        return stream

    found, expected = in_columns(run, forget), reference(run)
    assert found.letters == expected.letters
    border_at = Stream(Symbols(), run.tick, run.start, run.window).border
    rows = zip(run.queries, found.occurrences, expected.occurrences, strict=True)
    for query, kept, everything in rows:
        assert kept <= everything
        for occurrence, times in everything.items():
            entity, end = occurrence[0], occurrence[3]
            assert isinstance(entity, Constant | Compound)
            needed = border_at(query) - (more if entity.name == "e" else 0)
            assert kept[occurrence] == times or end <= needed
