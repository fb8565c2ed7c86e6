"""Compares the engines with the definitions over many random programs and streams.

    python scripts/random_programs.py --programs 100000 [--seed N] [--jobs 2] [--kind TEXT]

Streams have late items and retractions, and answers are compared at every query time. Programs
come in lots of a hundred with a seed: `--kind KIND --seed SEED --programs 100` shows a difference
again. The exit status is 1 if there was one.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.engine.test_compiled import RUNS, random_heads_agree, random_run_agrees
from tests.lars.plain_programs import stories
from tests.lars.test_plan_engine import check as check_story

LOT = 100
HEADS = "heads that leave variables to groundings"
LARS = "LARS programs"
KINDS = (*RUNS, HEADS, LARS)


def example(kind: str, data: st.DataObject) -> None:
    """One program of a kind, compared."""
    if kind in RUNS:
        random_run_agrees(kind, data)
    elif kind == LARS:
        check_story(data.draw(stories()))
    else:
        random_heads_agree(data.draw(st.integers(0, 1 << 62)))


def lot(kind: str, number: int, programs: int) -> tuple[int, str]:
    """Compares some programs: how many there were, and what differed first."""
    tried = 0

    @seed(number)
    @settings(
        max_examples=programs,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def compared(data: st.DataObject) -> None:
        nonlocal tried
        example(kind, data)
        tried += 1

    try:
        compared()
    except Exception as error:
        return tried, f"{type(error).__name__}: {error}\n" + "\n".join(error.__notes__)
    return tried, ""


def lots(kinds: list[str], programs: int, start: int) -> Iterator[tuple[str, int, int]]:
    """The kinds in turn, each with seeds of its own from a start on."""
    round_ = 0
    while programs > 0:
        yield kinds[round_ % len(kinds)], start + round_ // len(kinds), min(LOT, programs)
        programs -= LOT
        round_ += 1


def main(show: Callable[[str], None] = print) -> int:
    parser = argparse.ArgumentParser(description="Compares engines over random programs.")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=Random().randrange(1 << 30))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kind", default="", help=f"part of a kind's name: {', '.join(KINDS)}")
    asked = parser.parse_args()
    kinds = [kind for kind in KINDS if asked.kind in kind]
    if not kinds:
        parser.error(f"no kind has '{asked.kind}' in its name: {', '.join(KINDS)}")
    show(f"{asked.programs} programs, seeds from {asked.seed}")
    tried: Counter[str] = Counter()
    differ = 0
    with ProcessPoolExecutor(asked.jobs, max_tasks_per_child=20) as pool:
        work = {pool.submit(lot, *one): one for one in lots(kinds, asked.programs, asked.seed)}
        for done in as_completed(work):
            kind, number, _ = work[done]
            found, difference = done.result()
            tried[kind] += found
            if difference:
                differ += 1
                show(f"--- {kind}, seed {number}, after {found} programs\n{difference}")
            elif sys.stdout.isatty():
                print(f"\r{tried.total()} of {asked.programs}", end="", flush=True)
    for kind, number in tried.items():
        show(f"{number:8}  {kind}")
    show(f"{tried.total():8}  programs compared; lots with a difference: {differ}")
    return 1 if differ else 0


if __name__ == "__main__":
    raise SystemExit(main())
