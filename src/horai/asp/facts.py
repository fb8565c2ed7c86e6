"""Facts as clingo reads them. A fresh clingo reads all of them every time, so they are short."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from horai.asp.symbols import LARGEST
from horai.asp.writer import Writer
from horai.lang.lars.syntax import Atom
from horai.lang.terms import Int


def fact_lines(facts: Iterable[Atom], writer: Writer) -> Iterator[str]:
    """One line per fact; numbers that follow each other are one."""
    numbers: dict[str, list[int]] = {}
    for fact in facts:
        match fact.args:
            case (Int(value=value),) if abs(value) < LARGEST:
                numbers.setdefault(writer.names.now(fact.name), []).append(value)
            case _:
                yield f"{writer.atom(fact)}."
    for name, values in numbers.items():
        for first, last in in_a_row(values):
            yield f"{name}({first})." if first == last else f"{name}({first}..{last})."


def in_a_row(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """The first and last of numbers that follow each other.

    >>> in_a_row([3, 1, 2, 7])
    [(1, 3), (7, 7)]
    """
    found: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found
