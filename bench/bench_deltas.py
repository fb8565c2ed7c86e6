"""Operations on intervals from changes, beside the same from scratch and by the printed equations.

    python bench/bench_deltas.py [--quick]

Two lists of many keys; a share of their spans ends earlier or later than before, or is gone, or is
new. Every line asks for the new result and for its change, given the old result, the lists before
and now and their changes, in microseconds of CPU (least of several runs, one thread):

    scratch    merge the new lists, then compare the result with the old one
    equations  equations 15, 19, 23 of the paper as printed (18, 22, 26 if nothing is deleted) on
               terms of the last query time that are taken as known, then compare
    changes    horai.temporal.deltas, then apply the change to the old result

Ratios are to `changes`, measured in one run. The last columns say which way the cost model takes,
and how much longer than the better one it took. The answers of all ways are compared before. The
rates of the model come first; src/horai/temporal/costs.py says how its own were chosen.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from math import log2
from pathlib import Path
from typing import NamedTuple

import numpy as np

from horai.temporal.algebra import union
from horai.temporal.changes import Change, applied, difference, normalised
from horai.temporal.coalesce import sort_spans
from horai.temporal.costs import OPERATIONS, Sizes, cheaper
from horai.temporal.deltas import Operand
from horai.temporal.revise import by_changes, from_scratch
from horai.temporal.spans import Spans, no_spans
from horai.temporal.touched import within

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.temporal.paper import (
    Known,
    Lengths,
    equation_15,
    equation_18,
    equation_19,
    equation_22,
    equation_23,
    equation_26,
    known,
    paper_prefers_changes,
)

Answer = tuple[Spans, Change]
OLD_TERM = {"union_all": 0, "intersect_all": 1, "relative_complement_all": 2}  # in `Known`


def cpu(job: Callable[[], object], budget: float) -> float:
    """The least CPU time of a run, in microseconds, of as many as fit in so many seconds."""
    best, spent, runs = float("inf"), 0.0, 0
    while spent < budget or runs < 3:
        begin = time.perf_counter()
        start = time.process_time()
        job()
        best = min(best, time.process_time() - start)
        spent += time.perf_counter() - begin
        runs += 1
    return best * 1e6


class Case(NamedTuple):
    """Two operands, and what was kept of the last query time."""

    a: Operand
    b: Operand
    was: Known


def random_spans(dice: np.random.Generator, rows: int, keys: int, horizon: int) -> Spans:
    key = dice.integers(0, keys, rows)
    start = dice.integers(0, horizon, rows)
    return sort_spans(key, start, start + dice.integers(1, 100, rows))


def random_case(dice: np.random.Generator, rows: int, changed: int, deletions: bool) -> Case:
    """Two lists of about so many spans, 100 by key, and so many spans of changes to each."""
    keys = max(1, rows // 100)

    def revision() -> Operand:
        old = random_spans(dice, rows, keys, 20_000)
        new = random_spans(dice, changed if not deletions else (changed + 1) // 2, keys, 20_000)
        gone = no_spans()
        if deletions:  # some spans, or parts of them
            gone = within(old, random_spans(dice, changed // 2 + 1, keys, 20_000))
        change = normalised(old, gone, new)
        return Operand(old, change, applied(old, change))

    a, b = revision(), revision()
    return Case(a, b, known(a.old, b.old))


def scratch(operation: str, case: Case) -> Answer:
    new = from_scratch(operation, (case.a, case.b))
    return new, difference(case.was[OLD_TERM[operation]], new)


def changes(operation: str, case: Case) -> Answer:
    change = by_changes(operation, (case.a, case.b))
    return applied(case.was[OLD_TERM[operation]], change), change


def equations(operation: str, case: Case) -> Answer:
    a, b, was = case.a.change, case.b.change, case.was
    new_a, new_b = case.a.new or no_spans(), case.b.new or no_spans()
    if len(a.gone) or len(b.gone):
        full = {
            "union_all": equation_15,
            "intersect_all": equation_19,
            "relative_complement_all": equation_23,
        }
        new = full[operation](was, a, b)[-1]
    elif operation == "union_all":
        new = equation_18(was, a, b)
    elif operation == "intersect_all":
        new = equation_22(was, a, b, new_a, new_b)
    else:
        new = equation_26(was, a, b, new_b)
    return new, difference(was[OLD_TERM[operation]], new)


def check(operation: str, case: Case) -> None:
    """A way that answers something else is no rival."""
    expected = _columns(scratch(operation, case))
    for way in (changes, equations):
        for found, column in zip(_columns(way(operation, case)), expected, strict=True):
            if not np.array_equal(found, column):
                raise SystemExit(f"{operation}: {way.__name__} does not agree with scratch")


def _columns(answer: Answer) -> list[np.ndarray]:
    new, change = answer
    return [*new, *change.gone, *change.new]


def choices(operation: str, case: Case) -> tuple[str, str]:
    """What this cost model chooses, and what that of the paper does (for its equations)."""
    a, b = case.a.change, case.b.change
    operands = [Sizes(len(o.old), len(o.change.gone), len(o.change.new)) for o in case[:2]]
    lists = (case.a.old, case.b.old, *case.was, a.gone, a.new, b.gone, b.new)
    lengths = Lengths(*map(len, lists))
    ours = cheaper(operation, len(case.was[OLD_TERM[operation]]), operands)
    return ours, "equations" if paper_prefers_changes(operation, lengths) else "scratch"


def line(operation: str, case: Case, budget: float) -> None:
    check(operation, case)
    took = {
        way.__name__: cpu(partial(way, operation, case), budget)
        for way in (scratch, equations, changes)
    }
    ours, papers = choices(operation, case)
    best = min(took["scratch"], took["changes"])
    lost = took[ours] / best - 1
    rows = f"{len(case.a.old):>9,}{len(case.a.change):>9,}{len(case.a.change.gone):>9,}"
    cells = "".join(
        f"{took[way]:>11,.0f} ({took[way] / took['changes']:5.1f})"
        for way in ("scratch", "equations")
    )
    print(
        f"{operation:24}{rows}{cells}{took['changes']:>9,.0f}  {ours:8}{lost:>6.0%}  {papers}",
        flush=True,
    )


def rates(dice: np.random.Generator, rows: int, budget: float) -> None:
    """The rates of the cost model, in nanoseconds."""
    many = [random_spans(dice, rows, rows // 100, 20_000) for _ in range(2)]
    few = random_spans(dice, max(1, rows // 1000), rows // 100, 20_000)
    one = random_spans(dice, 1, 1, 20_000)
    alike = applied(many[0], normalised(many[0], few, no_spans()))
    change = normalised(many[0], no_spans(), one)
    for _ in range(3):  # from then on compiled
        union(*many)
        within(many[0], few)
        applied(many[0], change)
    call = cpu(lambda: [union(one, one) for _ in range(100)], budget) / 100
    total = len(many[0]) + len(many[1])
    merge = cpu(lambda: union(*many), budget) / total
    compare = cpu(lambda: difference(many[0], alike), budget) / (len(many[0]) + len(alike))
    look_up = (cpu(lambda: within(many[0], few), budget) - call) / (
        len(few) * (1 + log2(1 + len(many[0]) / len(few)))
    )
    copy = cpu(lambda: applied(many[0], change), budget) / len(many[0])
    print(f"rates of {rows:,} rows, ns: CALL {call * 1e3:,.0f}, MERGE {merge * 1e3:.1f}, ", end="")
    print(f"COMPARE {compare * 1e3:.1f}, LOOK_UP {look_up * 1e3:.1f}, COPY {copy * 1e3:.2f}\n")


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    budget = 0.0 if quick else 0.2
    dice = np.random.default_rng(11)
    rates(dice, 20_000 if quick else 1_000_000, budget)
    print(f"{'':24}{'rows':>9}{'changes':>9}{'deleted':>9}{'scratch':>19}{'equations':>19}", end="")
    print(f"{'changes':>9}  {'chosen':8}{'lost':>6}  paper's choice")
    sizes = (200, 2_000) if quick else (100, 1_000, 10_000, 100_000, 1_000_000)
    for deletions in (True, False):
        for rows in sizes:
            for share in (0.001, 0.1) if quick else (0.0001, 0.001, 0.01, 0.1, 0.5):
                if rows * share < 1:
                    continue
                case = random_case(dice, rows, int(rows * share), deletions)
                for operation in OPERATIONS:
                    line(operation, case, budget)


if __name__ == "__main__":
    main()
