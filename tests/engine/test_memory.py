"""An endless run needs no more room after a thousand windows than after a hundred.

What rules look at without any bound has to be kept: intervals as wholes, `queryTime`, the past of
members that a dynamic domain may still get. No such rules are here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from horai import io
from horai.engine.answer import spans_of
from horai.lang.core.printer import show
from horai.lang.ec.reader import read_text
from horai.runtime.compiled import CompiledEngine

STEP, WINDOW = 10, 25
WHO = ("a", "b", "c")

RULES = {
    "simple": """
        thing(a). thing(b). thing(c). value(true). value(false).
        grounding(on(X)=V) :- thing(X), value(V).
        initially(on(X)=false) :- thing(X).
        initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
        initiatedAt(on(X)=false, T) :- happensAt(down(X), T).
    """,
    "intervals": """
        thing(a). thing(b). thing(c).
        grounding(idle(X)=true) :- thing(X).
        collectIntervals(near(_)=true).
        collectIntervals(far(_)=true).
        initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
        terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
        holdsFor(idle(X)=true, I) :-
            holdsFor(on(X)=true, I1), holdsFor(near(X)=true, I2), complement_all([I1, I2], I).
        holdsFor(both(X)=true, I) :-
            holdsFor(on(X)=true, I1), holdsFor(near(X)=true, I2), intersect_all([I1, I2], I).
        holdsFor(long(X)=true, I) :- holdsFor(near(X)=true, I1), intDurGreater(I1, 5, I).
        holdsFor(short(X)=true, I) :- holdsFor(far(X)=true, I1), intDurLess(I1, 100, I).
        holdsAt(quiet(X)=true, T) :- holdsAt(far(X)=true, T), \\+ holdsAt(on(X)=true, T).
    """,
    "who is known": """
        initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
        terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
        holdsFor(off(X)=true, I) :- holdsFor(on(X)=true, I1), complement_all([I1], I).
    """,
    "relations": """
        collectIntervals(near(_)=true).
        collectIntervals(far(_)=true).
        initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
        terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
        holdsFor(within(X)=true, I) :-
            holdsFor(far(X)=true, I1), holdsFor(on(X)=true, I2), allen(overlaps, I1, I2, union, I).
    """,
    "points": """
        initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
        terminatedAt(on(X)=_, T) :- happensAt(down(X), T).
        happensAt(began(X), T) :- happensAt(start(on(X)=true), T).
        happensAt(ended(X), T) :- happensAt(end(on(X)=true), T).
        initiatedAt(again(X)=true, T) :- initiatedAt(on(X)=true, T), happensAt(began(X), T).
        terminatedAt(again(X)=true, T) :- terminatedAt(on(X)=true, T).
        initiatedAt(lately(X)=true, T) :-
            happensAt(up(X), T), happensAt(down(X), T2), T2 < T, T2 > T - 30.
        terminatedAt(lately(X)=true, T) :- happensAt(ended(X), T).
    """,
    "cycle": """
        initially(count(a)=0). initially(count(b)=0).
        initiatedAt(count(X)=N, T) :-
            happensAt(up(X), T), holdsAt(count(X)=M, T), N is (M + 1) mod 4.
        initiatedAt(one(X)=true, T) :- happensAt(up(X), T), \\+ holdsAt(two(X)=true, T).
        terminatedAt(one(X)=true, T) :- happensAt(down(X), T), holdsAt(two(X)=true, T).
        initiatedAt(two(X)=true, T) :- happensAt(down(X), T), holdsAt(one(X)=true, T).
        terminatedAt(two(X)=true, T) :- happensAt(up(X), T), \\+ holdsAt(one(X)=true, T).
    """,
    "delays": """
        initiatedAt(on(X)=true, T) :- happensAt(down(X), T).
        fi(on(X)=true, on(X)=tired, 50).
        fi(on(X)=tired, on(X)=false, 7).
        initiatedAt(warm(X)=true, T) :- happensAt(down(X), T).
        ft(warm(X)=true, 45).
        p(warm(X)=true).
    """,
    "conditional delays": """
        initiatedAt(on(X)=true, T) :- happensAt(up(X), T), \\+ holdsAt(on(X)=true, T).
        fi(on(X)=true, late(X)=true, 40) :- holdsAt(good(X)=true, T).
        initiatedAt(good(X)=true, T) :- happensAt(up(X), T).
        terminatedAt(good(X)=true, T) :- happensAt(down(X), T).
        initiatedAt(on(X)=false, T) :- happensAt(flip(X), T).
        initiatedAt(late(X)=false, T) :- happensAt(down(X), T).
    """,
    "dynamic domain": """
        dynamicDomain(thing(_)).
        grounding(up(X)) :- thing(X).
        grounding(down(X)) :- thing(X).
        value(true). value(false).
        grounding(on(X)=V) :- thing(X), value(V).
        grounding(idle(X)=true) :- thing(X).
        initially(on(X)=false) :- thing(X).
        initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
        initiatedAt(on(X)=false, T) :- happensAt(down(X), T).
        holdsFor(idle(X)=true, I) :- holdsFor(on(X)=true, I1), complement_all([I1], I).
    """,
    "passers-by": """
        collectIntervals(seen(_)=true).
        initiatedAt(here(X)=true, T) :- happensAt(come(X), T).
        terminatedAt(here(X)=true, T) :- happensAt(go(X), T).
        holdsFor(watched(X)=true, I) :-
            holdsFor(here(X)=true, I1), holdsFor(seen(X)=true, I2), intersect_all([I1, I2], I).
        holdsFor(hidden(X)=true, I) :-
            holdsFor(here(X)=true, I1), holdsFor(seen(X)=true, I2),
            relative_complement_all(I1, [I2], I).
        initiatedAt(met(X)=Y, T) :- happensAt(meet(X, Y), T), holdsAt(here(Y)=true, T).
    """,
    "measurements": """
        initiatedAt(fast(X)=true, T) :- happensAt(speed(X, V), T), V > 0.5.
        terminatedAt(fast(X)=true, T) :- happensAt(speed(X, V), T), V =< 0.5.
    """,
}


def item(name: str, who: str, time: int, *more: float | str, end: int | None = None) -> io.Item:
    return io.Item(
        op=1,
        name=name,
        kind="event" if end is None else "fluent",
        form="points" if end is None else "intervals",
        arrival=time,
        start=time,
        end=end,
        value=None if end is None else "true",
        args=(who, *more),
        file="day.txt",
        line=1,
    )


def happening(step: int, text: str) -> Iterator[io.Item]:
    """What happens in a step, and again many steps later."""
    begin = step * STEP + 1
    for place, who in enumerate(WHO):
        if (step + place) % 11 != 3:
            yield item("up", who, begin + place)
        if step % (place + 2) == 0 and step % 12 < 5:
            yield item("down", who, begin + place + 4)
        if "flip" in text and step % 7 == place:
            yield item("flip", who, begin + 2)
        if "near" in text:
            # Short intervals that touch: with gaps for two of them, one that never ends for c.
            for time in range(begin, begin + STEP):
                if who == "c" or (time + place) % 5:
                    yield item("near", who, time, end=time + 1)
            yield item("far", who, begin + 1, end=begin + 7)
        if "seen" in text:
            guest = f"{who}{step}"  # comes once and never again
            yield item("come", guest, begin)
            yield item("seen", guest, begin + 3, end=begin + 12)
            yield item("meet", who, begin + 5, guest)
            yield item("go", guest, begin + 9)
        if "speed" in text:
            yield item("speed", who, begin + place, ((step + place) * 0.37) % 1)


def session_of(text: str, window: int | None) -> CompiledEngine:
    """A session without an archive."""
    return CompiledEngine(read_text(text)[0], window=window, archive=False)


def run(session: CompiledEngine, text: str) -> Iterator[None]:
    """Go from window to window; all parts of answers are looked at."""
    step = 0
    while True:
        tables = io.Narrative.from_items(happening(step, text)).tables
        answer = session.advance((step + 1) * STEP, tables)
        for which in ("window", "new", "gone"):
            answer.part(which)
        step += 1
        yield


def rows(session: CompiledEngine) -> Counter[str]:
    """How many rows a session holds, by where."""
    found: Counter[str] = Counter()
    counts = session._machine.counts()
    found |= {name: counts[name] for name in ("rows", "lines", "links", "pool", "timers")}
    for key, known in session.inputs.final.items():
        found[f"input {key}"] = known.size
    for source, listed in session.inputs.live.items():
        found[f"live {source}"] = listed.size
    for key in session.stream.keys("event"):
        found[f"stream {key}"] = session.stream.events(key).size
    for key in session.stream.keys("fluent"):
        found[f"stream {key}"] = session.stream.fluents(key).size
    if ("seen", 1) not in session.inputs.final:  # of ever new names, each has a code
        found["symbols"] = len(session.symbols)
    return found


def test_without_a_window_the_measure_grows() -> None:
    session = session_of(RULES["simple"], None)
    steps = run(session, RULES["simple"])
    sizes = [len(session.save()) for _ in zip(range(200), steps, strict=False)]
    assert sizes[199] > 2 * sizes[9]


# Intervals that are compared with others are kept, and what speaks of the known.
GROWS = {"relations", "who is known", "dynamic domain"}
BOUNDED = sorted(RULES.keys() - GROWS)


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled engine looks for what it may forget when it has a thousand words."""
    monkeypatch.setattr("horai.engine.core.session.ROOM", 1000)


@pytest.mark.parametrize("name", BOUNDED)
def test_two_hundred_windows_need_no_more_room_than_a_hundred(name: str) -> None:
    check(name, 200)


@pytest.mark.slow
@pytest.mark.parametrize("name", BOUNDED)
def test_a_thousand_windows_need_no_more_room_than_a_hundred(name: str) -> None:
    check(name, 1000)


def check(name: str, windows: int) -> None:
    """What the last windows need is what the hundredth needed."""
    sizes: list[int] = []
    held: list[Counter[str]] = []
    session = session_of(RULES[name], WINDOW)
    for number, _ in enumerate(run(session, RULES[name]), 1):
        # The stream repeats itself only roughly, and the compiled engine forgets now and then: the
        # most of some windows is what counts.
        if 70 < number <= 100 or windows - 30 < number <= windows:
            sizes.append(len(session.save()))
            held.append(rows(session))
        if number == windows:
            break
    early, late = held[:30], held[30:]
    most = {where: max(one[where] for one in early) for where in set().union(*early, *late)}
    grown = {
        where: (before, now)
        for where, before in most.items()
        if (now := max(one[where] for one in late)) > 1.5 * before + 6
    }
    assert not grown
    assert max(sizes[30:]) < 1.2 * max(sizes[:30])


WANTED = {
    "simple": ["on(a)=false", "on(c)=true"],
    "intervals": ["idle(a)=true", "long(c)=true", "quiet(b)=true"],
    "relations": ["within(b)=true"],
    "who is known": ["off(b)=true"],
    "points": ["again(a)=true", "lately(b)=true"],
    "cycle": ["count(a)=3", "two(b)=true"],
    "delays": ["on(a)=tired", "on(b)=false", "warm(c)=true"],
    "conditional delays": ["late(a)=true"],
    "dynamic domain": ["idle(a)=true", "on(b)=false"],
    "passers-by": ["watched(a7)=true", "hidden(c9)=true", "met(b)=b8"],
    "measurements": ["fast(a)=true"],
}


@pytest.mark.parametrize("name", RULES)
def test_what_should_stay_small_is_really_worked_out(name: str) -> None:
    seen: set[str] = set()
    session = session_of(RULES[name], WINDOW)
    for step in range(40):
        tables = io.Narrative.from_items(happening(step, RULES[name])).tables
        answer = session.advance((step + 1) * STEP, tables)
        seen |= {f"{show(f)}={show(v)}" for f, v in spans_of(answer.part("new"), answer.symbols)}
    assert set(WANTED[name]) <= seen
