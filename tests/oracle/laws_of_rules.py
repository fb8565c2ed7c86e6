"""What must be true of every description: order, time, and the definitions themselves."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st
from tests.oracle.asking import Spans, ask, read
from tests.oracle.tiny import Tiny
from tests.strategies.descriptions import descriptions
from tests.strategies.parts import ClauseText, Described, text_of
from tests.strategies.streams import END, streams

from horai.lang.core.terms import Constant, make
from horai.oracle.ec.intervals import INF, TickGrid, contains
from horai.oracle.ec.session import AdmittedItems, Interpreter, OracleItem, OracleSession
from horai.oracle.ec.terms import covers

# --- order of clauses and conditions -------------------------------------------------------------


def order_does_not_matter(data: st.DataObject) -> None:
    """Clauses and conditions can stand in any order."""
    described: Described = data.draw(descriptions())
    given = data.draw(streams(described.tick))
    shuffle = random.Random(data.draw(st.integers(0, 2**32)))
    mixed = [_shuffled(clause, shuffle) for clause in described.clauses]
    shuffle.shuffle(mixed)
    straight = ask(read(described.text), given, [END], tick=described.tick)[0]
    other = ask(read(text_of(mixed)), given, [END], tick=described.tick)[0]
    assert other.spans == straight.spans
    assert other.events == straight.events


def _shuffled(clause: ClauseText, shuffle: random.Random) -> ClauseText:
    body = list(clause.body)
    shuffle.shuffle(body)
    return replace(clause, body=tuple(body))


# --- time ----------------------------------------------------------------------------------------


def time_has_no_origin(data: st.DataObject) -> None:
    """A run that starts later, over a stream that happens later, gives answers that are later."""
    described: Described = data.draw(descriptions(without={"clock"}))
    given = data.draw(streams(described.tick, lateness=5, early=3))
    later = described.tick * data.draw(st.integers(-30, 60))
    description = read(described.text)
    once = ask(description, given, [END], tick=described.tick)[0]
    moved = [_moved(item, lambda t: t + later) for item in given]
    session = OracleSession(description, start=later, tick=described.tick)
    other = session.advance(END + later, moved)
    assert other.spans == _moved_spans(once.spans, lambda t: t + later)
    assert other.events == {e: [t + later for t in times] for e, times in once.events.items()}


# Without delays, durations and other lengths of time: these would have to be scaled too.
LENGTHS = {
    *("clock", "delay", "duration", "past", "aggregate", "background", "ticks"),
}


def a_longer_tick_is_a_matter_of_scale(data: st.DataObject) -> None:
    """On a grid of 3, everything that happens at three times its time gives the same answers."""
    described: Described = data.draw(descriptions(without=LENGTHS))
    given = data.draw(streams(lateness=5, early=3))
    description = read(described.text)
    fine = ask(description, given, [END])[0]
    coarse = ask(description, [_moved(item, lambda t: 3 * t) for item in given], [3 * END], tick=3)
    assert coarse[0].spans == _moved_spans(fine.spans, lambda t: 3 * t)
    assert coarse[0].events == {e: [3 * t for t in times] for e, times in fine.events.items()}


def noise_does_not_matter(data: st.DataObject) -> None:
    """What no rule asks for changes nothing, whenever it happens."""
    described: Described = data.draw(descriptions())
    given = data.draw(streams(described.tick))
    times = data.draw(st.lists(st.integers(1, END), max_size=8))
    noise = [OracleItem(make("noise", Constant("x")), None, t, t, t) for t in times]
    description = read(described.text)
    quiet = ask(description, given, [END], tick=described.tick)[0]
    loud = ask(description, [*noise, *given], [END], tick=described.tick)[0]
    assert loud.spans == quiet.spans
    assert {
        e: t for e, t in loud.events.items() if e != make("noise", Constant("x"))
    } == quiet.events


def _moved(item: OracleItem, move: Callable[[int], int]) -> OracleItem:
    end = item.end if item.end == INF else move(int(item.end))
    return replace(item, start=move(item.start), end=end, arrival=move(item.arrival))


def _moved_spans(spans: Spans, move: Callable[[int], int]) -> Spans:
    return {
        pair: [(move(start), end if end == INF else move(int(end))) for start, end in intervals]
        for pair, intervals in spans.items()
    }


# --- definitions ---------------------------------------------------------------------------------


def intervals_follow_from_points(data: st.DataObject) -> None:
    """Simple fluents hold as the definition says, point by point, given their points."""
    described: Described = data.draw(descriptions(without={"mixed"}))
    given = data.draw(streams(described.tick))
    stream = AdmittedItems(TickGrid(described.tick), 0, None)
    stream.admit(given, END)
    interpreter = Interpreter(read(described.text), described.tick)
    world = interpreter.world_at(stream.occurrences(), 0, END)
    ends = {
        (fluent, value, t)
        for by_time in world.terminations.values()
        for t, at in by_time.items()
        for fluent, values in at.items()
        for value in values
    }
    begins, others = (
        {
            (fluent, value, t)
            for by_time in store.values()
            for t, at in by_time.items()
            for fluent, values in at.items()
            for value in values
            if value is not None
        }
        for store in (world.initiations, world.ghosts)
    )
    simple = {node.key for node in interpreter.strata.defined.nodes if node.kind == "simple"}
    pairs = {(f, v) for key in simple for f, v, _ in world.instances(key)}
    pairs |= {(fluent, value) for fluent, value, _ in begins}
    for fluent, value in pairs:
        breaks = {t for f, v, t in ends if f == fluent and covers(v, value)}
        breaks |= {t for f, v, t in begins | others if f == fluent and v != value}
        starts = {t for f, v, t in begins if (f, v) == (fluent, value)} - breaks
        for point in range(0, END + 1, described.tick):
            expected = any(s < point and not any(s < b < point for b in breaks) for s in starts)
            assert contains(world.intervals(fluent, value), point) == expected, point


SMALL = frozenset(
    {
        *("initially", "wildcard", "letters", "alone", "wrapped", "output", "inputs", "effects"),
        *("negation", "existential", "disjunction", "timeless", "cycle", "clock", "past"),
    }
)


def the_tiny_interpreter_agrees(data: st.DataObject) -> None:
    """A second interpreter, point by point, for rules about events and fluents."""
    _agree(data, SMALL | {"formula"})


def the_tiny_interpreter_agrees_on_edges_and_points(data: st.DataObject) -> None:
    """The same for rules about starts and ends, initiations and terminations."""
    _agree(data, SMALL | {"edges", "points"})


def the_tiny_interpreter_agrees_on_delays(data: st.DataObject) -> None:
    """The same for delayed effects, postponed or not, of one fluent or between two."""
    delays = {"delay", "delay-between", "postponed", "ending", "edges", "points"}
    _agree(data, SMALL - {"existential", "timeless", "past"} | delays)


def _agree(data: st.DataObject, features: frozenset[str]) -> None:
    described: Described = data.draw(descriptions(features))
    given = data.draw(streams(retractions=False))
    description = read(described.text)
    answer = ask(description, given, [END])[0]
    tiny = Tiny(
        description,
        [(item.entity, item.start) for item in given if item.value is None],
        [((i.entity, i.value), i.start, i.end) for i in given if i.value is not None],
        END,
    )
    for t in range(1, END + 1):
        held = {pair for pair, intervals in answer.spans.items() if contains(intervals, t)}
        assert held == tiny.held[t], t
        happened = {e for e, times in answer.events.items() if t in times}
        assert happened == tiny.events[t], t


LAWS_OF_RULES = (
    order_does_not_matter,
    time_has_no_origin,
    a_longer_tick_is_a_matter_of_scale,
    noise_does_not_matter,
    intervals_follow_from_points,
    the_tiny_interpreter_agrees,
    the_tiny_interpreter_agrees_on_edges_and_points,
    the_tiny_interpreter_agrees_on_delays,
)
