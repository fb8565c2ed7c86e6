"""Cases as text files: a program, the signals, and all answers at some times.

== a name
h(X) :- b(X) [2 s].
< 1: b(x), c          signals at a time, in their order
< 5/2: b(y)           a signal of time 2 that arrives at 5
< 6/1: -b(x)          and one that takes back an earlier one
> 3: h(x)             the answer at a time
> 4: a | b, c         two answers;  `-` is an answer without atoms
> 5: none             no answer
@ 500ms               the clock, if it is not 1 s
! asp                 engines that say they cannot run it
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from horai.lang.lars.reader import read_text
from horai.lang.lars.syntax import Atom
from horai.runtime.lars.answers import written

FOLDER = Path(__file__).parent / "cases"


@dataclass
class Case:
    """One case of a file."""

    name: str
    program: str = ""
    clock: str = "1s"
    refused_by: set[str] = field(default_factory=set)
    rows: list[str] = field(default_factory=list)
    answers: dict[int, list[list[str]]] = field(default_factory=dict)


def cases(folder: Path = FOLDER) -> list[Case]:
    """All cases, in the order of files and lines."""
    found: list[Case] = []
    for path in sorted(folder.glob("*.case")):
        case = None  # the lines before the first case say what the file is about
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("== "):
                case = Case(f"{path.stem}: {line[3:]}")
                found.append(case)
            elif case is not None:
                _add(case, line)
    return found


def _add(case: Case, line: str) -> None:
    mark, rest = line[:2], line[2:]
    if mark == "< ":
        times, _, atoms = rest.partition(":")
        arrival, _, time = times.partition("/")
        case.rows.extend(_row(atom, arrival, time or arrival) for atom in _split(atoms))
    elif mark == "> ":
        time, _, models = rest.partition(":")
        texts = [] if models.strip() == "none" else models.split("|")
        case.answers[int(time)] = sorted(_model(text) for text in texts)
    elif mark == "@ ":
        case.clock = rest.strip()
    elif mark == "! ":
        case.refused_by.update(rest.split())
    else:
        case.program += line + "\n"


def _split(text: str) -> list[str]:
    return [atom.strip() for atom in re.findall(r"-?\w+(?:\([^)]*\))?", text)]


def _row(atom: str, arrival: str, time: str) -> str:
    name, _, args = atom.rstrip(")").partition("(")
    return "|".join([name, arrival.strip(), time.strip(), *(args.split(",") if args else [])])


def _model(text: str) -> list[str]:
    if text.strip() == "-":
        return []
    (rule,) = read_text(f"h :- {text}.")[0].rules
    return sorted(written(atom) for atom in rule.body if isinstance(atom, Atom))
