"""One question, one clingo: everything is grounded anew."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from clingo import Function, Symbol

from horai.asp.answers import Answers
from horai.asp.encoding import Encoding
from horai.asp.solving import Asked, Clingo
from horai.asp.symbols import to_symbol


def solve_once(
    encoding: Encoding,
    windows: list[list[Symbol]],
    moments: Iterable[Symbol],
    asked: Asked,
    time: int,
    previous: Answers | None = None,
) -> Answers:
    """The answers for what windows hold, in the order of the views of the encoding.

    With `previous`, those that differ from it the least.
    """
    if previous is None or not previous.models:
        asked, preference = replace(asked, steady=False), ""
    else:
        preference = _preference(encoding, previous)
    clingo = Clingo(asked, is_tame=not encoding.writer.has_decimals)
    clingo.functions.windows = windows
    facts = [f"{moment}." for moment in moments]
    clingo.ground("\n".join([encoding.text(), encoding.feeding(), *facts, preference]))
    return clingo.answers(encoding, time)


def _preference(encoding: Encoding, previous: Answers) -> str:
    """Every atom that comes or goes at the current time costs one."""
    lines: list[str] = []
    for (name, arity), pinned in encoding.shown.values():
        if not pinned:
            args = ",".join(f"X{place}" for place in range(arity))
            now = encoding.names.now(name) + (f"({args})" if args else "")
            row = f"1@1,{now}"
            lines.append(f"#minimize {{ {row} : {now}, not _before({now}) }}.")
            lines.append(f"#minimize {{ {row} : _before({now}), not {now} }}.")
    for atom in previous.models[0].at(previous.time):
        args_before = [to_symbol(arg) for arg in atom.args]
        symbol = Function(encoding.names.now(atom.name), args_before)
        lines.append(f"_before({symbol}).")
    return "\n".join(["#defined _before/1.", *lines])
