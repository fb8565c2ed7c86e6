"""The same story in many windows."""

from __future__ import annotations

from tests.oracle.story import Held, describe, held, queries, run

WINDOWS = [(1, 1), (2, 1), (5, 5), (10, 5), (10, 10), (40, 20)]


def in_any_window(rules: str, items: str, until: int = 40) -> Held:
    """The answer of one window over everything, which every other windowing has to give too."""
    description = describe(rules)
    once = run(description, items, until)
    for window, step in WINDOWS:
        if until % step:
            continue
        *_, last = queries(description, items, until=until, window=window, step=step)
        all_spans = {p: s for p, s in held(last.all_spans).items() if p in once}
        assert all_spans == once, (window, step)
    return once
