"""Proofs of atoms of LARS programs: rules, windows with what they select, and the signals in them.

The answer streams at a query time are those of the definition, over the signals that windows can
still see; the one that the run has given, whatever engine ran, is proved from its signals upwards.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from horai import io
from horai.errors import UsageError, counted
from horai.explain.course import AS_ABOVE, GOES_ON, Course
from horai.explain.proof import Place, Proof, Time
from horai.io.letters import OF_ENGINES
from horai.lang.core.terms import Term, Var, is_anonymous
from horai.lang.lars import syntax as lars
from horai.lang.lars.arithmetic import TooLarge
from horai.lang.lars.predicates import body_atoms, head_predicates
from horai.lang.lars.printer import show, show_rule
from horai.lang.lars.syntax import Atom, Program, Rule
from horai.lang.lars.walk import atoms
from horai.oracle.lars.answers import OracleAnswerStream, answer_streams
from horai.oracle.lars.entailment import Structure
from horai.oracle.lars.grounding import EndlessDerivation, Instance, ProgramGrounding, head_pairs
from horai.oracle.lars.matching import TooManyValues, unified
from horai.oracle.lars.stream import Pair, Stream, select
from horai.plan.lars.fragments import classify
from horai.plan.lars.reach import reach_of
from horai.runtime.inputs import row_text
from horai.runtime.values import show as show_term
from horai.runtime.values import to_term

MOST = 12
"""How many points, or rows of an aggregate, are proved."""
ORDER = "order"
TOGETHER = "it and other atoms of the answer stream support each other"


class Signals(NamedTuple):
    """The signals that a query time knows, each with its row.

    With combined rules some are `told` by the description instead: an event, or a fluent and value.
    """

    pairs: list[Pair]
    places: dict[Pair, Place]
    told: Mapping[Pair, tuple[Term, Term | None]] = MappingProxyType({})


class Reason(NamedTuple):
    """The rule by which an atom is derived, its ground instance, and the option that was chosen."""

    rule: Rule
    body: tuple[lars.Formula, ...]
    is_choice: bool


@dataclass(frozen=True, slots=True)
class Situation:
    """A program at a query time: an answer stream, and why each of its atoms is derived."""

    time: int
    answer: OracleAnswerStream
    signals: Signals
    reasons: dict[Pair, Reason]
    grounding: ProgramGrounding


def signals_known(
    tables: Iterable[io.ItemTable],
    letters: Iterable[io.DeadLetter],
    low: float,
    time: int,
    late: bool,
) -> Signals:
    """The signals from a time on that have arrived, and are not taken back."""
    unused = {(one.file, one.line, one.text) for one in letters if one.code in OF_ENGINES}
    found: dict[Pair, list[tuple[int, Place]]] = {}
    for table in tables:
        if table.kind == "fluent":
            continue  # combined rules have such; the description tells the program of them
        start = table.table.column("start").to_numpy()
        rows = ((start >= low) & (start <= time)).nonzero()[0]
        few = replace(table, table=table.table.take(rows))
        places = few.table.column(ORDER).to_pylist() if ORDER in few.table.column_names else rows
        for item, order in zip(few.items(), places, strict=True):
            place = Place(item.file, item.line, row_text(item))
            if place in unused or (item.arrival > time and not late):
                continue
            pair = (item.start, Atom(item.name, tuple(map(to_term, item.args))))
            known = found.setdefault(pair, [])
            if item.op > 0:
                known.append((order, place))
            elif known:
                known.pop()
    listed = sorted((order, pair) for pair, some in found.items() for order, _ in some)
    ordered = sorted((pair for _, pair in listed), key=lambda pair: pair[0])
    return Signals(ordered, {pair: some[0][1] for pair, some in found.items() if some})


def rows_like(
    tables: Iterable[io.ItemTable], predicate: lars.Predicate, most: int
) -> Iterator[Atom]:
    """Some different atoms of a predicate that the input has, those of later rows first."""
    seen: dict[Atom, None] = {}
    for table in tables:
        if (table.name, table.arity) == predicate and table.kind == "event":
            few = replace(table, table=table.table.slice(max(0, len(table) - most)))
            for item in reversed(list(few.items())):
                seen[Atom(item.name, tuple(map(to_term, item.args)))] = None
    yield from seen


def situation(
    program: Program, signals: Signals, start: int, time: int, wanted: Collection[Atom]
) -> Situation | None:
    """The answer stream that has what is wanted at a time, such as what a run has found."""
    try:
        return _situation(program, signals, start, time, wanted)
    except (EndlessDerivation, TooManyValues, TooLarge) as error:
        problem = f"by the definition this takes too long, or has no end: {error}"
        raise UsageError(problem, "ask about an atom on the way to it") from error


def _situation(
    program: Program, signals: Signals, start: int, time: int, wanted: Collection[Atom]
) -> Situation | None:
    last = max([time, *(moment for moment, _ in signals.pairs)])
    data = Stream(start, last, tuple(signals.pairs))
    grounding = ProgramGrounding(program, data, time, endless=True)
    data = replace(data, last=grounding.end())
    for answer in answer_streams(grounding, data):
        held = answer.at(time)
        if all(atom in held for atom in wanted):
            return Situation(time, answer, signals, _reasons(grounding, data, answer), grounding)
    return None


def _reasons(
    grounding: ProgramGrounding, data: Stream, answer: OracleAnswerStream
) -> dict[Pair, Reason]:
    """Why each atom is derived: by a rule whose body holds already by what was derived before."""
    whole = Structure(answer.stream, answer.background)
    listed = [(rule, one) for rule in grounding.rules for one in grounding.instances_of(rule)]
    firing = [(rule, one) for rule, one in listed if one.applies(whole, grounding.time)]
    left, reasons = set(answer.stream.derived), dict[Pair, Reason]()
    while left:
        so_far = Structure(data.plus(reasons), answer.background)
        new: dict[Pair, Reason] = {}
        for rule, instance in firing:
            if instance.applies(so_far, grounding.time):
                for pair, reason in _given(
                    rule, instance, (so_far, whole), answer.stream, grounding.time
                ):
                    if pair in left:
                        new.setdefault(pair, reason)
        if not new:
            break
        reasons |= new
        left -= new.keys()
    return reasons


def _given(
    rule: Rule, instance: Instance, both: tuple[Structure, ...], stream: Stream, time: int
) -> Iterator[tuple[Pair, Reason]]:
    """What a ground rule gives; of a choice, each option that may be taken."""
    if not isinstance(instance.head, lars.Choice):
        reason = Reason(rule, instance.body, False)
        yield from ((pair, reason) for pair in head_pairs(instance.head, stream, time))
        return
    for option in instance.head.options:
        if all(one.entails(part, time) for one in both for part in option.condition):
            reason = Reason(rule, (*instance.body, *option.condition), True)
            yield from ((pair, reason) for pair in head_pairs(option.head, stream, time))


class AtomProver:
    """Proves what holds in a situation."""

    def __init__(
        self,
        found: Situation,
        course: Course,
        time: Time = str,
        tell: Callable[[Term, Term | None, int], Proof] | None = None,
    ) -> None:
        self.found, self.course, self.time, self._tell = found, course, time, tell
        self.whole = found.answer.stream
        self.structure = Structure(self.whole, found.answer.background)

    def holds(self, atom: Atom, time: int) -> Proof:
        """Why an atom holds at a time."""
        pair = (time, atom)
        node = Proof("holds", show(atom), at=time, claim=show(atom), time=self.time)
        place = self.found.signals.places.get(pair)
        if place is not None:
            return replace(node, kind="item", row=place)
        if atom in self.found.answer.background:
            return replace(node, kind="fact", at=None)
        key = (id(self), pair)  # what another situation has proved is another matter
        if key in self.course.proved:
            return replace(node, note=AS_ABOVE)
        if self.course.is_deep:
            return replace(node, note=GOES_ON)
        self.course.proved.add(key)
        with self.course.deeper():
            told = self.found.signals.told.get(pair)
            if told is not None and self._tell is not None:
                return replace(node, premises=(self._tell(*told, time),))
            reason = self.found.reasons.get(pair)
            if reason is None:
                return replace(node, note=TOGETHER)
            premises = [
                one for part in reason.body for one in self.why(part, self.whole, self.found.time)
            ]
        return replace(
            node,
            kind="chosen" if reason.is_choice else "holds",
            note="an option of a choice" if reason.is_choice else "",
            rule=place_of(reason.rule),
            bindings=_bindings(reason, atom),
            premises=tuple(premises),
        )

    def why(self, formula: lars.Formula, part: Stream, time: int) -> list[Proof]:
        """Why a formula holds at a time in a part of the stream."""
        match formula:
            case lars.Atom():
                return [self.holds(formula, time)]
            case lars.And(parts=parts):
                return [one for each in parts for one in self.why(each, part, time)]
            case lars.Or(parts=parts):
                met = (each for each in parts if self._is_so(each, part, time))
                return self.why(next(met), part, time)
            case lars.Implies(left=left, right=right):
                chosen = right if self._is_so(right, part, time) else lars.Not(left)
                return self.why(chosen, part, time)
            case lars.Some(formula=inner):
                return self.why(inner, part, self._witness(inner, part))
            case lars.Always(formula=inner):
                points = part.timeline
                premises = [one for t in points[:MOST] for one in self.why(inner, part, t)]
                more = len(points) - MOST
                note = f"and {counted(more, 'point')} more" if more > 0 else ""
                return [self._node("formula", formula, time, premises, note)]
            case lars.At(time=at, formula=inner):
                return self.why(inner, part, int(show_term(at)))
            case lars.Within(window=window, formula=inner):
                selected = select(window, part, time)
                made = self._node("window", formula, time, self.why(inner, selected, time))
                return [replace(made, interval=(selected.first, selected.last + 1))]
            case lars.Reset(formula=inner):
                return self.why(inner, self.whole, time)
            case lars.Not():
                return [self._node("not", formula, time)]
            case lars.Aggregate(elements=elements):
                rows = [e for e in elements if all(self._is_so(c, part, time) for c in e.condition)]
                shown = [c for e in rows[:MOST] for c in e.condition]
                premises = [one for c in shown for one in self.why(c, part, time)]
                more = len(rows) - MOST
                note = f"and {counted(more, 'row')} more" if more > 0 else ""
                return [self._node("aggregate", formula, time, premises, note)]
            case _:
                return [replace(self._node("computed", formula, time), at=None)]

    def _is_so(self, formula: lars.Formula, part: Stream, time: int) -> bool:
        return self.structure.holds(formula, (part,), time)

    def _witness(self, formula: lars.Formula, part: Stream) -> int:
        """The latest time at which a formula holds; where something holds it is likely."""
        likely = sorted({t for t, _ in part.pairs}, reverse=True)
        for t in chain(likely, reversed(part.timeline)):
            if self._is_so(formula, part, t):
                return t
        raise AssertionError(f"{show(formula)} holds nowhere")

    def _node(
        self,
        kind: str,
        formula: lars.Formula,
        time: int,
        premises: Sequence[Proof] = (),
        note: str = "",
    ) -> Proof:
        return Proof(
            kind,  # type: ignore[arg-type]
            show(formula),
            at=time,
            premises=tuple(premises),
            note=note,
            time=self.time,
        )


def needed_for(program: Program, asked: Atom) -> Program:
    """The rules that an atom depends on, if the others cannot change what these say.

    They may do so where there are several answer streams, of which constraints leave some.
    """
    if classify(program).strata is None:
        return program
    needed, left = {asked.predicate}, [asked.predicate]
    while left:
        one = left.pop()
        rules = (rule for rule in program.rules if one in head_predicates(rule))
        more = {atom.predicate for rule in rules for atom in body_atoms(rule)} - needed
        needed |= more
        left += more
    kept = (rule for rule in program.rules if head_predicates(rule) & needed)
    return replace(program, rules=tuple(kept))


def without_constraints(program: Program) -> Program:
    """The program as if nothing were forbidden."""
    return replace(program, rules=tuple(rule for rule in program.rules if rule.head is not None))


def low_of(program: Program, start: int, time: int) -> float:
    """The first time whose signals can matter at a time."""
    reach = reach_of(program)
    if reach.last or reach.groups:
        return start
    return max(start, time - max([reach.every, *reach.points.values()]))


def place_of(rule: Rule) -> Place:
    source = rule.source
    if source is None or rule.span is None:
        return Place("<rules>", 1, show_rule(rule))
    text = " ".join(source.snippet(rule.span).split())
    return Place(source.name, source.position(rule.span[0])[0], text)


def _bindings(reason: Reason, atom: Atom) -> tuple[tuple[str, str], ...]:
    """What the variables of a rule stand for, as far as its atoms say it."""
    rule = reason.rule
    pairs = list(zip(atoms_in(rule.body), atoms_in(reason.body), strict=False))
    if isinstance(rule.head, Atom):
        pairs.insert(0, (rule.head, atom))
    values: dict[str, Term] = {}
    for pattern, said in pairs:
        if pattern.predicate == said.predicate:
            values = dict(unified(pattern.args, said.args, values) or values)
    named = {name: value for name, value in values.items() if not is_anonymous(Var(name))}
    return tuple((name, show_term(value)) for name, value in named.items())


def atoms_in(body: Sequence[lars.Formula]) -> list[Atom]:
    """The atoms of conditions, in their order."""
    return [atom for condition in body for atom in atoms(condition)]
