"""Both languages together, from the definition: each is given what the other one says, again and
again, until nothing changes.

Nothing is known here of an order of rules. Where neither language depends on itself by way of the
other, every round settles what the rounds before have made known, so there is an end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from horai.lang.core.printer import show
from horai.lang.core.terms import Constant as Name
from horai.lang.core.terms import Term, children, functor, make
from horai.lang.ec.syntax import EventDescription
from horai.lang.lars.predicates import derived, inputs
from horai.lang.lars.syntax import Atom, Program
from horai.oracle.ec.session import OracleAnswer, OracleItem, OracleSession
from horai.oracle.lars.answers import answers_at

MOST_ROUNDS = 20
_TRUE = Name("true")


class Circular(Exception):
    """The languages go round in a circle."""


@dataclass
class Settled:
    """An answer of combined rules: spans, the atoms of each point, and points without any."""

    description: OracleAnswer
    atoms: dict[int, frozenset[Atom]]
    unanswered: set[int] = field(default_factory=set)


def settle(
    description: EventDescription,
    program: Program,
    items: Iterable[OracleItem],
    start: int,
    query: int,
) -> Settled:
    """The answer for the points after `start` up to the query time, given all items.

    Windows of the program are measured in time points. Events are signals, in their order.
    """
    given = list(items)
    atoms: dict[int, frozenset[Atom]] = {}
    for _ in range(MOST_ROUNDS):
        session = OracleSession(description, start=start)
        told = [*given, *_items(atoms, session, start)]
        answer = session.advance(query, told)
        signals = [*_signals(given), *said(answer, program, given, start, query)]
        before, (atoms, lost) = atoms, _evaluated(program, signals, start, query)
        if atoms == before:
            return Settled(answer, atoms, lost)
    raise Circular("description and program read each other in a circle")


def _evaluated(
    program: Program, signals: list[tuple[int, Atom]], start: int, query: int
) -> tuple[dict[int, frozenset[Atom]], set[int]]:
    """The atoms that hold in all answers at each point."""
    heads = derived(program)
    found: dict[int, frozenset[Atom]] = {}
    lost: set[int] = set()
    for point in range(start + 1, query + 1):
        models = [
            frozenset(atom for atom in answer.stream.at(point) if atom.predicate in heads)
            for answer in answers_at(program, signals, point, start + 1)
        ]
        found[point] = frozenset.intersection(*models) if models else frozenset()
        if not models:
            lost.add(point)
    return found, lost


def _items(
    atoms: dict[int, frozenset[Atom]], session: OracleSession, start: int
) -> Iterator[OracleItem]:
    """Atoms as events and as fluents; who does not ask for them does not mind."""
    for point, holding in atoms.items():
        for atom in holding:
            whole = make(atom.name, *atom.args)
            yield OracleItem(whole, None, point, point, start)
            if not session.is_output(whole, True):
                yield OracleItem(whole, _TRUE, point, point + 1, start)
            if atom.args:
                part = make(atom.name, *atom.args[:-1])
                if not session.is_output(part, True):
                    yield OracleItem(part, atom.args[-1], point, point + 1, start)


def _signals(items: list[OracleItem]) -> Iterator[tuple[int, Atom]]:
    for item in items:
        if item.value is None:
            yield item.start, _atom(item.entity)


def said(
    answer: OracleAnswer, program: Program, given: list[OracleItem], start: int, query: int
) -> list[tuple[int, Atom]]:
    """The signals that the description gives the program, point by point, in a fixed order."""
    read = inputs(program)
    rows = {(item.start, _atom(item.entity)) for item in given if item.value is None}
    found: set[tuple[int, Atom]] = set()
    for event, times in answer.all_events.items():
        found.update((time, _atom(event)) for time in times)
    found -= rows  # the stream itself has brought these
    for (fluent, value), spans in answer.all_spans.items():
        atom = _atom(fluent)
        forms = [Atom(atom.name, (*atom.args, value)), *([atom] if value == _TRUE else [])]
        for first, end in spans:
            for point in range(max(first, start + 1), int(min(end, query + 1))):
                found.update((point, form) for form in forms)
    kept = [(point, atom) for point, atom in found if atom.predicate in read]
    return sorted(kept, key=lambda pair: (pair[0], pair[1].predicate, _texts(pair[1])))


def _texts(atom: Atom) -> tuple[str, ...]:
    return tuple(map(show, atom.args))


def _atom(term: Term) -> Atom:
    key = functor(term)
    assert key is not None
    return Atom(key[0], tuple(children(term)))
