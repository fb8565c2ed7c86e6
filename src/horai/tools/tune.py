"""Which window a stream needs: try some on a sample, and see what each of them loses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from horai import io
from horai import settings as parameters
from horai.errors import UsageError
from horai.io.items.tables import extent
from horai.runtime.engines import engine_named
from horai.runtime.inputs import read_input
from horai.runtime.metrics import ItemCounts, columns_of, lateness
from horai.settings import RunSettings, Schedule, plan_run
from horai.temporal.spans import Ints

if TYPE_CHECKING:
    from horai.result import Result
    from horai.rules import Rules

QUANTILES = (0.0, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0)
QUERIES = 100  # how many a run has when nobody says how long a step is
Names = dict[str, set[tuple[object, ...]]]


@dataclass(frozen=True, slots=True)
class LostRows:
    """Rows of one fluent or event: of the full answer that are missing, and others instead."""

    missing: int
    wrong: int


@dataclass(frozen=True, slots=True)
class Trial:
    """The loss of a window against one over everything, in numbers and as shares from 0 to 1.

    An interval that is changed is one that is missing and one that is wrong, and its share is
    counted once.
    """

    window: int
    items_lost: int
    items_share: float
    answers_missing: int
    answers_wrong: int
    answers_share: float
    by_name: dict[str, LostRows]

    @property
    def loss(self) -> float:
        """The larger of the two shares."""
        return max(self.items_share, self.answers_share)


@dataclass(frozen=True, slots=True)
class Tuning:
    """The windows tried, and the shortest that loses no more than was asked.

    `lateness` has, for some shares of the items, the lateness that they do not exceed.
    """

    step: int
    items: int
    answers: int
    lateness: dict[float, int]
    max_loss: float
    trials: tuple[Trial, ...]
    recommended: int | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `horai tune --format json` writes them."""
        lateness = [{"share": share, "most": most} for share, most in self.lateness.items()]
        return {**asdict(self), "lateness": lateness, "trials": [asdict(t) for t in self.trials]}


def tune(
    rules: Rules,
    input: object,
    *,
    windows: Sequence[int] | None = None,
    step: int | None = None,
    max_loss: float = 0.01,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> Tuning:
    """Run over a sample with several windows; see `Rules.tune`."""
    asked = RunSettings.of("ec", "run", {"step": step, **settings})
    engine_named(asked.engine)
    if progress is not None:
        parameters.function(progress, "progress")
    limit, lengths = _share(max_loss), None if windows is None else _lengths(windows)
    narrative = read_input(
        input, rules.schema, asked.scale, format=asked.input_format, strict=asked.strict
    )
    schedule = plan_run(asked, extent(narrative.tables))
    if schedule is None or not len(narrative):
        hint = "give a narrative with items as late as they usually are"
        raise UsageError("there is nothing to learn from: no row of the input can be used", hint)
    step = asked.step or default_step(schedule)
    late = np.concatenate([lateness(columns_of(table)) for table in narrative.tables])
    lengths = lengths or candidates(late, step, schedule)
    given: dict[str, Any] = {"start": schedule.start, "end": schedule.end, "tick": schedule.tick}
    given |= {"allen_memory": asked.allen_memory, "engine": asked.engine, "answers": "final"}
    runs = (rules.run(narrative, window=w, step=w and step, **given) for w in (None, *lengths))
    found = _told(runs, len(lengths) + 1, progress)
    full = next(found)
    trials = tuple(_trial(w, next(found), full) for w in lengths)
    return Tuning(
        step=step,
        items=full.counts.judged,
        answers=sum(map(len, full.names.values())),
        lateness=dict(zip(QUANTILES, _quantiles(late), strict=True)),
        max_loss=limit,
        trials=trials,
        recommended=next((t.window for t in trials if t.loss <= limit), None),
    )


# --- what to try ---------------------------------------------------------------------------------


def default_step(schedule: Schedule) -> int:
    """A hundredth of the run, in whole ticks."""
    ticks = -(-(schedule.end - schedule.start) // (QUERIES * schedule.tick))
    return max(ticks, 1) * schedule.tick


def candidates(late: Ints, step: int, schedule: Schedule) -> list[int]:
    """The windows in whole steps that lose nothing of some share of the items.

    A query comes at most a step after the item, so a window of lateness and step holds it.
    """
    longest = schedule.end - schedule.start
    wanted = (min(most + step, longest) for most in _quantiles(late))
    return sorted({-(-length // step) * step for length in wanted})


def _quantiles(late: Ints) -> list[int]:
    found: list[int] = np.quantile(late, QUANTILES, method="higher").tolist()
    return found


def _share(given: object) -> float:
    if isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= 1:
        return float(given)
    hint = "the share of items and answers that may be lost: 0.01 is one in a hundred"
    raise UsageError(f"max-loss must lie between 0 and 1, not {given!r}", hint)


def _lengths(windows: object) -> list[int]:
    if isinstance(windows, str) or not isinstance(windows, Iterable):
        raise UsageError("windows must be a list of lengths", "for example windows=[60, 120]")
    found = sorted({parameters.length(window, "window", 1) for window in windows})
    if not found:
        raise UsageError("no windows given", "name some, or leave them out to try sensible ones")
    return found


# --- what comes out ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Outcome:
    counts: ItemCounts
    names: Names


def _told(
    runs: Iterable[Result], number: int, progress: Callable[[int, int], None] | None
) -> Iterator[_Outcome]:
    """The answers of a run that are needed; the run itself is let go."""
    for done, result in enumerate(runs, 1):
        outcome = _Outcome(result.metrics.run, _answers(result))
        if progress is not None:
            progress(done, number)
        yield outcome


def _answers(result: Result) -> Names:
    """The rows of the final answer by what they are about; terms are source text."""
    columns = io.answer_table(result.table("final")).to_pydict()
    names = ("kind", "name", "args", "value", "start", "end", "time")
    found: Names = {}
    for kind, name, args, *rest in zip(*(columns[n] for n in names), strict=True):
        found.setdefault(f"{name}/{len(args)}", set()).add((kind, *args, *rest))
    return found


def _trial(window: int, found: _Outcome, full: _Outcome) -> Trial:
    lost = max(0, found.counts.unused - full.counts.unused)
    differences = {}
    for name in sorted({*found.names, *full.names}):
        has, wants = found.names.get(name, set()), full.names.get(name, set())
        if has != wants:
            differences[name] = LostRows(len(wants - has), len(has - wants))
    missing = sum(each.missing for each in differences.values())
    wrong = sum(each.wrong for each in differences.values())
    counts = full.counts
    return Trial(
        window=window,
        items_lost=lost,
        items_share=_part(lost, counts.on_time + counts.late + counts.retracted),
        answers_missing=missing,
        answers_wrong=wrong,
        answers_share=_part(max(missing, wrong), sum(map(len, full.names.values()))),
        by_name=differences,
    )


def _part(some: int, all: int) -> float:
    return min(1.0, some / all) if all else float(some > 0)
