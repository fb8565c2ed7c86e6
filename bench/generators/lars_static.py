"""The programs of `generators.lars` as answer set programs by the static encoding.

H. Beck, Expressive Rule-based Stream Reasoning (TU Wien, 2018), algorithm LarsToAsp: a rule for
each point or place that a window covers. What a run has to give clingo at a time point is all there
is in this text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from horai.lang.lars.syntax import Atom


class Window(NamedTuple):
    """A window atom: its name in rules, the signal it is about, its form and size."""

    name: str
    signal: str
    arity: int
    form: str
    size: int


class Static(NamedTuple):
    """Rules that stay the same, and how far back they look."""

    text: str
    reach: int
    signals: int


def static(rules: str, windows: list[Window]) -> Static:
    """The rules with those of their windows."""
    lines = [rules, *(line for window in windows for line in _rules(window))]
    lines += ["#show. #show a/1. #show reach/2. #show getFrom/3. #show lfu/0. #show random/0."]
    reach = max((w.size for w in windows if w.form.startswith("t")), default=0)
    signals = max((w.size for w in windows if w.form.startswith("#")), default=0)
    return Static("\n".join(lines), reach, signals)


def _rules(window: Window) -> Iterator[str]:
    args = [f"X{place}" for place in range(window.arity)]
    name, signal = window.name, window.signal
    joined = ",".join(args)
    point = f"{name}({','.join([*args, 'T'])})"
    held = f"{name}({joined})" if args else name
    at = f"{signal}_at({','.join([*args, 'T'])})"
    match window.form:
        case "t@" | "t some":
            head = point if window.form == "t@" else held
            for back in range(window.size + 1):
                yield f"{head} :- now(N), {at}, T=N-{back}."
        case "t always":
            now = f"{signal}_at({','.join([*args, 'N'])})"
            yield f"{held} :- now(N), {now}, not spoil_{held}."
            for back in range(1, window.size + 1):
                yield f"spoil_{held} :- now(N), {now}, not {at}, T=N-{back}, T>=0."
        case "# @" | "# some":
            head = point if window.form == "# @" else held
            for back in range(window.size):
                yield f"{head} :- cnt(C), {signal}_cnt({','.join([*args, 'T', 'D'])}), D=C-{back}."
        case "# always":
            cut, now = window.size - 1, f"{signal}_at({','.join([*args, 'N'])})"
            first = f"D=C-{cut}"
            yield f"{held} :- now(N), {now}, not spoil_{held}."
            yield f"spoil_{held} :- now(N), {now}, cnt(C), tick(T,D), C-{cut}<=D, not {at}."
            counted = f"{signal}_cnt({','.join([*args, 'T', 'D2'])})"
            yield f"spoil_{held} :- now(N), {now}, cnt(C), tick(T,D), {first}, {counted}, D2<D."


def question(static: Static, ticks: list[list[Atom]], now: int) -> str:
    """All that clingo is given at a time point."""
    lines = [static.text, f"now({now})."]
    count = sum(map(len, ticks[: now + 1]))
    lines.append(f"cnt({count}).")
    place = count
    for time in range(now, -1, -1):
        here = ticks[time]
        if time < now - static.reach and place <= count - static.signals:
            break
        first = place - len(here)
        for number, atom in enumerate(here, first + 1):
            args = [str(arg.value) for arg in atom.args]  # type: ignore[union-attr]
            lines.append(f"{atom.name}_at({','.join([*args, str(time)])}).")
            if static.signals:
                lines.append(f"{atom.name}_cnt({','.join([*args, str(time), str(number)])}).")
        if static.signals:
            lines += [f"tick({time},{number})." for number in range(first, place + 1)]
        place = first
    return "\n".join(lines)
