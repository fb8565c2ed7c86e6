"""What must be true of every stream: windows, arrival, retraction, changelogs."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import event
from hypothesis import strategies as st
from tests.oracle.asking import Spans, ask, read
from tests.strategies.descriptions import descriptions
from tests.strategies.parts import Described
from tests.strategies.runs import Run, runs
from tests.strategies.streams import END, Windows, items, retraction_of, streams, windows

from horai.lang.core.terms import Term
from horai.oracle.ec.session import OracleItem, OracleSession

# --- windows -------------------------------------------------------------------------------------


def windows_do_not_matter(data: st.DataObject) -> None:
    """When nothing is late, window and step change no answer."""
    run: Run = data.draw(runs())
    described, cut, given = run.described, run.cut, run.items
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
    run: Run = data.draw(runs())
    described, cut, given = run.described, run.cut, run.items
    description = read(described.text)
    straight = ask(description, given, cut.queries, tick=described.tick, window=cut.window)
    mixed = data.draw(st.permutations(given))
    session = OracleSession(description, tick=described.tick, window=cut.window)
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
    more: list[OracleItem] = data.draw(
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


# --- the changelog -------------------------------------------------------------------------------


def the_changelog_adds_up(data: st.DataObject) -> None:
    """Changes turn each answer into the next; all changes together are the last answer."""
    run: Run = data.draw(runs(lateness=12))  # some come too late
    described, cut, given = run.described, run.cut, run.items
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
    session = OracleSession(read(described.text), tick=described.tick, window=cut.window)
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
    assert balance == sum(map(len, session.stream._admitted.values()))
    assert inserted >= balance


LAWS_OF_STREAMS = (
    windows_do_not_matter,
    arrival_does_not_matter,
    duplicates_do_not_matter,
    what_is_taken_back_leaves_no_trace,
    the_changelog_adds_up,
    every_item_is_used_or_reported,
)
