"""What must be true of every description and every stream, as functions of random data."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from hypothesis import event
from hypothesis import strategies as st
from tests.oracle.tiny import Tiny
from tests.strategies.descriptions import descriptions
from tests.strategies.parts import ClauseText, Described, text_of
from tests.strategies.streams import END, Windows, items, retraction_of, streams, windows

from horai.lang.ec.builder import read_text
from horai.lang.ec.syntax import EventDescription
from horai.lang.terms import Atom, Term, make
from horai.oracle import Answer, Item, Session
from horai.oracle.evaluate import Interpreter
from horai.oracle.intervals import INF, Intervals, contains
from horai.oracle.stream import Stream
from horai.oracle.unify import covers

Spans = dict[tuple[Term, Term], Intervals]


def read(text: str) -> EventDescription:
    """A description that is known to be legal."""
    return read_text(text)[0]


def ask(
    description: EventDescription,
    given: Sequence[Item],
    queries: Iterable[int],
    *,
    tick: int = 1,
    window: int | None = None,
) -> list[Answer]:
    """Answers at query times; all items are given at once."""
    session = Session(description, tick=tick, window=window)
    return [session.advance(q, given if i == 0 else ()) for i, q in enumerate(queries)]


# --- windows -------------------------------------------------------------------------------------


def windows_do_not_matter(data: st.DataObject) -> None:
    """When nothing is late, window and step change no answer."""
    described: Described = data.draw(descriptions())
    cut: Windows = data.draw(windows())
    given = data.draw(streams(described.tick, cut.lateness, early=3))
    description = read(described.text)
    answers = ask(description, given, cut.queries, tick=described.tick, window=cut.window)
    assert not [d for answer in answers for d in answer.dropped if "late" in d.reason]
    for answer in answers:
        whole = ask(description, given, [answer.query], tick=described.tick)[0]
        assert answer.all_spans == whole.all_spans
        assert answer.all_events == whole.all_events
        border = answer.query - cut.window
        assert answer.spans == _reaching(whole.all_spans, border, described.tick)
        assert answer.events == {
            e: kept for e, ts in whole.all_events.items() if (kept := [t for t in ts if t > border])
        }
    event(f"{min(len(answers[-1].all_spans), 6)} pairs")


def _reaching(spans: Spans, border: int, tick: int) -> Spans:
    """Intervals with a point after the border: one between a start and the point before an end."""
    kept: Spans = {}
    for pair, intervals in spans.items():
        for start, end in intervals:
            after = max(start, border + 1)
            on_grid = after if after % tick == 0 or after == start else after + tick - after % tick
            if on_grid < end:
                kept.setdefault(pair, []).append((start, end))
    return kept


def arrival_does_not_matter(data: st.DataObject) -> None:
    """Order, duplicates and batches of items change no answer."""
    described: Described = data.draw(descriptions())
    cut: Windows = data.draw(windows())
    given = data.draw(streams(described.tick, cut.lateness, early=3))
    description = read(described.text)
    straight = ask(description, given, cut.queries, tick=described.tick, window=cut.window)
    mixed = data.draw(st.permutations(given))
    session = Session(description, tick=described.tick, window=cut.window)
    waiting = list(mixed)
    for expected in straight:
        # An item may be given at any query time up to the first one after its arrival.
        due = [item for item in waiting if item.arrival <= expected.query]
        early = [i for i in waiting if i.arrival > expected.query and data.draw(st.booleans())]
        now = [*due, *early]
        waiting = [item for item in waiting if not any(item is other for other in now)]
        answer = session.advance(expected.query, now)
        assert answer.spans == expected.spans
        assert answer.events == expected.events
        assert answer.all_spans == expected.all_spans


def duplicates_do_not_matter(data: st.DataObject) -> None:
    """An item that comes twice is one item."""
    described: Described = data.draw(descriptions())
    given = data.draw(streams(described.tick, lateness=5, retractions=False))
    again = [item for item in given if data.draw(st.booleans())]
    description = read(described.text)
    once = ask(description, given, [END], tick=described.tick)[0]
    twice = ask(description, [*given, *again], [END], tick=described.tick)[0]
    assert twice.spans == once.spans
    assert twice.events == once.events


# --- retractions ---------------------------------------------------------------------------------


def what_is_taken_back_leaves_no_trace(data: st.DataObject) -> None:
    """Inserted and retracted in time is the same as never there, once the retraction is known."""
    described: Described = data.draw(descriptions())
    cut: Windows = data.draw(windows())
    given = data.draw(streams(described.tick, cut.lateness, retractions=False))
    more: list[Item] = data.draw(
        st.lists(items(described.tick, cut.lateness, early=3), min_size=1, max_size=4)
    )
    undone = [data.draw(retraction_of(item, cut.lateness)) for item in more]
    description = read(described.text)
    plain = ask(description, given, cut.queries, tick=described.tick, window=cut.window)
    mixed = data.draw(st.permutations([*given, *more, *undone]))
    traced = ask(description, mixed, cut.queries, tick=described.tick, window=cut.window)
    known = max(item.arrival for item in undone)
    for one, other in zip(plain, traced, strict=True):
        if one.query >= known:
            assert other.all_spans == one.all_spans
            assert other.all_events == one.all_events
    assert traced[-1].query >= known


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
    session = Session(description, start=later, tick=described.tick)
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
    noise = [Item(make("noise", Atom("x")), None, t, t, t) for t in times]
    description = read(described.text)
    quiet = ask(description, given, [END], tick=described.tick)[0]
    loud = ask(description, [*noise, *given], [END], tick=described.tick)[0]
    assert loud.spans == quiet.spans
    assert {e: t for e, t in loud.events.items() if e != make("noise", Atom("x"))} == quiet.events


def _moved(item: Item, move: Callable[[int], int]) -> Item:
    end = item.end if item.end == INF else move(int(item.end))
    return replace(item, start=move(item.start), end=end, arrival=move(item.arrival))


def _moved_spans(spans: Spans, move: Callable[[int], int]) -> Spans:
    return {
        pair: [(move(start), end if end == INF else move(int(end))) for start, end in intervals]
        for pair, intervals in spans.items()
    }


# --- the changelog -------------------------------------------------------------------------------


def the_changelog_adds_up(data: st.DataObject) -> None:
    """Changes turn each answer into the next; all changes together are the last answer."""
    described: Described = data.draw(descriptions())
    cut: Windows = data.draw(windows())
    given = data.draw(streams(described.tick, lateness=12, early=3))  # some come too late
    description = read(described.text)
    spans: set[tuple[Term, Term, tuple[int, float]]] = set()
    happened: set[tuple[Term, int]] = set()
    for answer in ask(description, given, cut.queries, tick=described.tick, window=cut.window):
        assert not spans & set(answer.new_spans) and set(answer.gone_spans) <= spans
        assert not happened & set(answer.new_events) and set(answer.gone_events) <= happened
        spans = spans - set(answer.gone_spans) | set(answer.new_spans)
        happened = happened - set(answer.gone_events) | set(answer.new_events)
        assert spans == {
            (fluent, value, one)
            for (fluent, value), intervals in answer.all_spans.items()
            for one in intervals
        }
        assert happened == {(e, t) for e, times in answer.all_events.items() for t in times}


def every_item_is_used_or_reported(data: st.DataObject) -> None:
    """Nothing is dropped silently: what never counts comes back with a reason."""
    described: Described = data.draw(descriptions(most=1))
    cut: Windows = data.draw(windows())
    given = data.draw(streams(described.tick, lateness=25, early=5))
    tagged = [replace(item, tag=n) for n, item in enumerate(given)]
    session = Session(read(described.text), tick=described.tick, window=cut.window)
    dropped = [
        d
        for n, q in enumerate(cut.queries)
        for d in session.advance(q, tagged if n == 0 else ()).dropped
    ]
    dropped += session.finish()
    lost = [d.item.tag for d in dropped if d.reason != "partly-too-late"]
    assert len(lost) == len(set(lost))
    inserted = sum(not item.retract for item in given if item.tag not in lost)
    used = [item for item in tagged if item.tag not in lost]
    balance = sum(-1 if item.retract else 1 for item in used)
    assert balance == sum(len(a.parts) for a in session.stream._admitted.values())
    assert inserted >= balance


# --- definitions ---------------------------------------------------------------------------------


def intervals_follow_from_points(data: st.DataObject) -> None:
    """Simple fluents hold as the definition says, point by point, given their points."""
    described: Described = data.draw(descriptions(without={"mixed"}))
    given = data.draw(streams(described.tick))
    stream = Stream(Session(read("a(b)."), tick=described.tick).interpreter.grid, 0, None)
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
        *("initially", "wildcard", "letters", "alone", "wrapped", "output", "formula", "inputs"),
        *("negation", "existential", "disjunction", "timeless", "cycle"),
    }
)


def the_tiny_interpreter_agrees(data: st.DataObject) -> None:
    """A second interpreter, point by point, for rules with one time variable."""
    described: Described = data.draw(descriptions(SMALL))
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


LAWS = (
    windows_do_not_matter,
    arrival_does_not_matter,
    duplicates_do_not_matter,
    what_is_taken_back_leaves_no_trace,
    order_does_not_matter,
    time_has_no_origin,
    a_longer_tick_is_a_matter_of_scale,
    noise_does_not_matter,
    the_changelog_adds_up,
    every_item_is_used_or_reported,
    intervals_follow_from_points,
    the_tiny_interpreter_agrees,
)
