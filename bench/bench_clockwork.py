"""How long the clockwork takes per candidate, on one core.

    python bench/bench_clockwork.py [candidates]

Prints nanoseconds of CPU time per candidate, the best of four runs: 100,000 alternations of one
entity, each guarded by the one before; 1,000,000 random candidates over 10,000 entities, without
and with guards; the same with delayed effects, plain and postponable, and how many acted.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from horai.temporal.clockwork import (
    Candidates,
    Effects,
    Guards,
    Settled,
    no_effects,
    no_guards,
    no_state,
    settle,
)

ENTITIES = 10_000
DELAY = 40


def alternation(n: int) -> tuple[Candidates, Guards]:
    """One entity; each candidate asks for the value that the one before has set."""
    i = np.arange(n, dtype=np.int64)
    guards = Guards(np.zeros(n, np.int64), i % 2, np.ones(n, np.bool_))
    return Candidates(
        i + 1, np.zeros(n, np.int64), (i + 1) % 2, np.zeros(n, np.int64), i, i + 1
    ), guards


def traffic(n: int, guarded: bool) -> tuple[Candidates, Guards]:
    """Four of five initiate one of two values, one terminates; about a hundred at each time."""
    dice = np.random.default_rng(7)
    times = np.sort(dice.integers(1, n // 100 + 2, n))
    entity, value = dice.integers(0, ENTITIES, n), dice.integers(0, 2, n)
    kind = (dice.random(n) < 0.2).astype(np.int64)
    at = np.arange(n, dtype=np.int64) if guarded else np.zeros(n, np.int64)
    guards = Guards(entity, 1 - value, np.zeros(n, np.bool_)) if guarded else no_guards()
    return Candidates(times, entity, value, kind, at, at + int(guarded)), guards


def reversal(postponable: bool) -> Effects:
    """Value 1 of every entity becomes 0 after a while."""
    entity = np.arange(ENTITIES, dtype=np.int64)
    nothing, one = np.zeros(ENTITIES, np.int64), np.ones(ENTITIES, np.int64)
    waits = np.full(ENTITIES, postponable)
    return Effects(nothing, entity, one, one * DELAY, nothing, entity, nothing, waits)


def measure(name: str, points: tuple[Candidates, Guards], entities: int, effects: Effects) -> None:
    candidates, guards = points
    n = len(candidates.time)
    query = int(candidates.time[-1])
    state = no_state(entities, len(effects.rule))
    best, settled = float("inf"), None
    for _ in range(4):  # the first may have to compile
        begin = time.process_time()
        settled = settle(candidates, guards, effects, state, 0, query)
        best = min(best, time.process_time() - begin)
    assert isinstance(settled, Settled)
    print(
        f"{name:34} {n:>10,} {len(settled.spans.key):>10,} {len(settled.effect):>9,}"
        f" {best / n * 1e9:>9.1f}"
    )


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(f"{'':34} {'candidates':>10} {'spans':>10} {'effects':>9} {'ns each':>9}")
    chain = alternation(100_000)
    chain[0].guard_end[0] = 0  # the first has nothing before it
    measure("alternation of one entity", chain, 1, no_effects())
    plain, guarded = traffic(n, guarded=False), traffic(n, guarded=True)
    measure("10,000 entities", plain, ENTITIES, no_effects())
    measure("10,000 entities, guarded", guarded, ENTITIES, no_effects())
    measure("10,000 entities, delayed effects", plain, ENTITIES, reversal(False))
    measure("10,000 entities, postponable", plain, ENTITIES, reversal(True))


if __name__ == "__main__":
    main()
