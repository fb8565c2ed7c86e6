"""Case files about LARS programs: an atom `happens` at the query times at which it holds."""

from __future__ import annotations

from dataclasses import dataclass

from horai import lars
from horai.cases import Case
from horai.engines import DEFAULT
from horai.errors import UsageError
from horai.io import AnswerRow, DeadLetter
from horai.lars_engines import AUTO
from horai.lars_result import LarsAnswer, differences
from horai.values import plain

_SETTINGS = ("step", "start", "end", "unit")


def is_about_lars(case: Case) -> bool:
    """Are the rules of a case files of LARS programs?"""
    files = () if case.rules is None else case.rules.files
    return bool(files) and all(file.suffix.lower() == ".lars" for file in files)


@dataclass(frozen=True)
class AtomsThen:
    """What holds at a query time, and what has come and gone since the one before."""

    query: int
    rows: list[AnswerRow]
    changes: list[AnswerRow]


@dataclass(frozen=True)
class AtomsFound:
    """What a run found, in the form that cases expect."""

    answers: list[AtomsThen]
    dead_letters: list[DeadLetter]

    def rows(self, answers: str) -> list[AnswerRow]:
        """All query times of all atoms."""
        every = [row for then in self.answers for row in then.rows]
        return sorted(every, key=lambda row: row.time or 0)


def run_program(case: Case, narrative: object, engine: str) -> AtomsFound:
    """Run the program of a case over its narrative."""
    assert case.rules is not None
    for name in case.settings.keys() - set(_SETTINGS):
        hint = f"settings are {', '.join(_SETTINGS)}"
        raise UsageError(f"{name} has no meaning for LARS programs", hint)
    more = () if case.background is None else case.background.files
    if case.background is not None and case.background.text is not None:
        raise UsageError("background of LARS programs stands in files", "name one")
    program = lars.load(case.rules.files, more)
    result = program.run(
        narrative,
        engine=AUTO if engine == DEFAULT else engine,
        **case.settings,  # type: ignore[arg-type]
    )
    pairs = zip([None, *result.answers], result.answers, strict=False)
    return AtomsFound([_then(before, now) for before, now in pairs], result.dead_letters)


def _then(before: LarsAnswer | None, now: LarsAnswer) -> AtomsThen:
    held = [
        AnswerRow("event", atom.name, [plain(arg) for arg in atom.args], time=now.query)
        for atom in now.atoms
    ]
    changes = [
        AnswerRow("event", row["name"], row["args"], time=now.query, op=row["op"])
        for row in differences(before, now)
        if row["kind"] == "atom"
    ]
    return AtomsThen(now.query, held, changes)
