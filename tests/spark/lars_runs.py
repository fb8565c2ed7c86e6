"""Runs of LARS programs to be compared, random ones and cases: in one process, and in buckets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from tests.lars import casefiles, test_conformance
from tests.lars.plain_programs import Sent, Story, stories

import horai
from horai.errors import RunError
from horai.result import Result
from horai.runtime.lars.answers import PointAnswers
from horai.runtime.lars.buckets import ProgramJob
from horai.runtime.records import Exchanger, LocalGrid
from horai.runtime.spark.batch import run_job
from horai.settings import RunSettings

SETTINGS = ("allowed_lateness", "models", "filter", "step")


@dataclass(frozen=True)
class LarsRun:
    """A program, rows of a stream, and how it is run."""

    text: str
    rows: tuple[str, ...]
    settings: dict[str, Any]
    buckets: int


def case_runs(buckets: int = 3) -> dict[str, LarsRun]:
    """The cases of the project by their names, and the shared ones where they are at hand."""

    def run(text: str, rows: list[str], clock: str, times: Iterable[int]) -> LarsRun:
        asked = {"clock": clock, "start": 0, "end": max(times), "models": "all"}
        return LarsRun(text, tuple(rows), asked, buckets)

    own = {c.name: run(c.program, c.rows, c.clock, c.answers) for c in casefiles.cases()}
    shared = {
        case["id"]: run(
            case["program"],
            test_conformance.narrative(case).splitlines(),
            case["clock"],
            [check["time"] for check in case["checks"]],
        )
        for case in test_conformance.CASES
    }
    return own | shared


def told(result: Result) -> dict[str, Any]:
    """Everything that a result says."""
    forms = ["windows", "final"]
    raw = result.steps[0].raw
    assert isinstance(raw, PointAnswers)
    if raw.revisable or not raw.numbered:
        forms.append("changelog")
    said: dict[str, Any] = {form: result.rows(form) for form in forms}
    return said | {
        "letters": sorted(result.dead_letters),
        "warnings": [str(one) for one in result.warnings],
        "answers": [(answer.query, answer.models) for answer in result.answers],
    }


def alone(run: LarsRun) -> dict[str, Any]:
    """What one process says."""
    return _said(lambda: horai.loads(run.text, language="lars").run(list(run.rows), **run.settings))


def in_buckets(run: LarsRun, grid: Exchanger[Any] | None = None) -> dict[str, Any]:
    """What buckets say together."""
    rules = horai.loads(run.text, language="lars")

    def result() -> Result:
        asked = RunSettings.of("lars", "run", run.settings)
        job = ProgramJob(rules, list(run.rows), asked)
        return run_job(grid or LocalGrid(), job, run.buckets)

    return _said(result)


def _said(run: Callable[[], Result]) -> dict[str, Any]:
    """What a run says. Rules may derive without end, which a part of them finds out by itself."""
    try:
        return told(run())
    except RunError as error:
        return {"problem": str(error).partition(" (")[0]}


def rows_of(sent: tuple[Sent, ...]) -> tuple[str, ...]:
    """Signals as rows, in their order; what is taken back comes as a row of its own."""
    found = [(one.arrival, "", one) for one in sent]
    found += [(one.gone, "-", one) for one in sent if one.gone is not None]
    found.sort(key=lambda row: row[0])
    return tuple(
        "|".join([f"{op}{one.name}", str(arrival), str(one.time), *one.args])
        for arrival, op, one in found
    )


@st.composite
def settings_of(draw: st.DrawFn, start: int | None) -> dict[str, Any]:
    """How a run is asked for."""
    return {
        "start": start,
        "end": draw(st.sampled_from([None, 13])) if start is None else 13,
        "allowed_lateness": draw(st.sampled_from([None, None, 0, 3])),
        "models": draw(st.sampled_from(["one", "all"])),
        "filter": draw(st.sampled_from(["inferences", "none", "p1,s"])),
        "step": draw(st.sampled_from([1, 1, 2])),
    }


@st.composite
def plain_runs(draw: st.DrawFn) -> LarsRun:
    """Programs of the plan engine, most of which count signals or look at all entities."""
    story: Story = draw(stories())
    settings = draw(settings_of(story.start))
    return LarsRun(story.text, rows_of(story.signals), settings, draw(st.integers(1, 4)))


# --- programs that can be split ---------------------------------------------------------------

ENTITIES = ("x", "y", "z", "3", "3.0", "'A b'", "f(x)")
WINDOWS = ("", " [2]", " [3 hop 2]", " [1, +1]", " [inf]", " [only s(x,_), r]", " [from 2 to 7]")
GROUPS = (" [1 # per s(A,_)]", " [2 # per s(x,B), s(A,B)]", " [+1 # per s(A,_)]")
BODIES = (
    "s({k},{o}){w}",
    "s({k},{o}){w}, not r({o},{k}){v}",
    "s({k},{o}){g}",
    "not s({k},7){g}, r({o},{k}){w}",
    "g({k}), not s({k},_){v}",
    "@T r({o},{k}){v}, not q({k}){w}",
    "always s({k},{o}) [1], q({k}) [2]",
    "q({k}){w}, count {{ O, T : @T s({k},O) [3] }} > 1",
    "r({o},{k}), N = count {{ O : s({k},O) [4] ; O : r(O,{k}) [2] }}, N < 3",
    "[3] always (s({k},1) -> r(1,{k})), g({k})",
    "q({k}), s({k},O){w}, O > 2",
)
WHOLE = (
    "all(N) :- N = count {{ K : s(K,_){w} }}.",
    "last(K) :- s(K,_) [2 #].",
    "pair(K,L) :- s(K,O){w}, s(L,O){w}, not q(K).",
    "calm :- not r(_,_){v}.",
    "deep(K) :- always s(K,1) [1 # per s(A,_)].",
    ":- s(x,_){w}, r(_,y).",
)


@st.composite
def split_programs(draw: st.DrawFn) -> str:
    """Rules that go by an entity; at times some that do not."""

    def filled(text: str) -> str:
        window, view = draw(st.sampled_from(WINDOWS)), draw(st.sampled_from(WINDOWS[:6]))
        group = draw(st.sampled_from(GROUPS))
        other = draw(st.sampled_from(["_", "O", "1"]))
        if "not" in text and other != "1":
            other = "1" if "not r({o}" in text else other
        return text.format(k="K", o=other, w=window, v=view, g=group)

    lines = ["g(x).", "g(3).", "q(K) :- r(_,K) [2].", "q(y)."]
    for number in range(draw(st.integers(1, 3))):
        body = filled(draw(st.sampled_from(BODIES)))
        time = "@T " if "@T r" in body and draw(st.booleans()) else ""
        head = draw(st.sampled_from(["p{n}(K)", "p{n}(1,K)", "p1(K)"])).format(n=number)
        lines.append(f"{time}{head} :- {body}.")
    if draw(st.integers(0, 2)) == 0:
        lines.append(filled(draw(st.sampled_from(WHOLE))))
    return "\n".join(lines)


@st.composite
def split_runs(draw: st.DrawFn) -> LarsRun:
    """Programs that go by an entity, with signals that come late, twice, or are taken back."""
    rows: list[tuple[int, str]] = []
    for _ in range(draw(st.integers(0, 14))):
        time = draw(st.integers(0, 12))
        arrival = max(0, time + draw(st.sampled_from([0, 0, 0, 1, 3, -2])))
        key, other = draw(st.sampled_from(ENTITIES)), draw(st.sampled_from(("1", "7")))
        said = [("s", (key, other)), ("r", (other, key)), ("q", (key,)), ("g", (key,)), ("w", ())]
        name, args = draw(st.sampled_from(said))
        rows.append((arrival, "|".join([name, str(arrival), str(time), *args])))
        if draw(st.integers(0, 4)) == 0:
            gone = arrival + draw(st.integers(0, 3))
            rows.append((gone, "|".join([f"-{name}", str(gone), str(time), *args])))
    rows.sort(key=lambda row: row[0])
    settings = draw(settings_of(draw(st.sampled_from([None, 0, 2]))))
    texts = tuple(text for _, text in rows)
    return LarsRun(draw(split_programs()), texts, settings, draw(st.integers(1, 4)))
