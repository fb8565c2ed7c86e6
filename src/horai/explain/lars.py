"""Why atoms of LARS programs hold: rules, windows with what they select, and the signals in them.

The answer streams at a query time are those of the definition, over the signals that windows can
still see; the one that the run has given, whatever engine ran, is proved from its signals upwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from types import MappingProxyType
from typing import NamedTuple

from horai import io
from horai.errors import UsageError, counted
from horai.explain.absence import DEEPEST, Lack, Reasons, Told, lacking, row_of
from horai.explain.proof import AS_ABOVE, GOES_ON, Course, Place, Proof, RowChange, Time
from horai.io.letters import OF_ENGINES
from horai.lang.core.arithmetic import NoValue
from horai.lang.core.terms import Int, Term, Var, is_anonymous, is_ground, make
from horai.lang.lars import syntax as lars
from horai.lang.lars.arithmetic import TooLarge
from horai.lang.lars.predicates import body_atoms, expanded, head_predicates, inputs
from horai.lang.lars.printer import show, show_rule
from horai.lang.lars.syntax import Atom, Program, Rule
from horai.lang.lars.walk import atoms, bind
from horai.oracle.lars.answers import OracleAnswerStream, answer_streams
from horai.oracle.lars.entailment import Structure, Unbound
from horai.oracle.lars.grounding import EndlessDerivation, Instance, ProgramGrounding, head_pairs
from horai.oracle.lars.matching import (
    Possible,
    TimeScope,
    TooManyValues,
    Values,
    solutions,
    unified,
    written,
)
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


# --- why not -------------------------------------------------------------------------------------

# A rule is tried with one condition less, then with two; what is left out for the others to hold is
# what it lacks. A row that would make up for that takes open values from other rows.

MOST_SOLUTIONS = 200
"""So many ways to satisfy the other conditions are looked at; the last of them is told."""
MOST_LIKE = 50
"""So many rows of a predicate are looked at for values that nothing else gives."""


class AtomAbsences:
    """Finds out why an atom does not hold in a situation."""

    def __init__(self, prover: AtomProver, tables: Sequence[io.ItemTable]) -> None:
        self.prover, self.found, self.tables = prover, prover.found, tables
        self.time = prover.found.time
        grounding = self.found.grounding
        self._rules = grounding.rules
        known = grounding.possible
        self._holding = Possible(
            prover.whole, self.time, known.facts, known.derived, prover.whole.last
        )
        for pair in sorted(prover.whole.pairs, key=lambda one: one[0]):
            self._holding.add(pair)
        self._inputs = inputs(lars.Program(tuple(self._rules)))
        self._depth = 0

    def reasons(self, atom: Atom) -> Reasons:
        """What each rule lacks, the nearest first, and the rows that may make up for it."""
        found = Reasons([], [])
        found.nearest(lack for rule in self._rules for lack in self._lacks(rule, atom))
        if atom.predicate in self._inputs:
            wish = row_of(make(atom.name, *atom.args), self.time)
            node = self._node("unmet", f"no row of the input says {show(atom)}")
            found.add(replace(node, at=self.time), [wish] if wish else [])
        return found

    def elsewhere(self, atom: Atom, t: int) -> Reasons | None:
        """Why another language does not tell of an atom; None if none could."""
        return None

    # --- what a rule lacks -----------------------------------------------------------------------

    def _lacks(self, rule: Rule, atom: Atom) -> Iterator[Lack]:
        for values, more, is_choice in self._heads(rule.head, atom):

            def solved(
                rest: list[lars.Formula], unmet: list[lars.Formula], values: Values = values
            ) -> Values | None:
                one = self._first(rest, values)
                met = one is not None and any(self._is_met(part, one) for part in unmet)
                return None if met else one

            for one, unmet, rest in lacking((*rule.body, *more), solved, 0 if is_choice else 1):
                yield self._lack(rule, atom, one, unmet, rest, is_choice)

    def _heads(
        self, head: lars.Head | None, atom: Atom
    ) -> Iterator[tuple[Values, tuple[lars.Formula, ...], bool]]:
        """The ways in which a head may say an atom: values, conditions of its own, is it chosen?"""
        match head:
            case lars.Choice(options=options):
                for option in options:
                    for values, _, _ in self._heads(option.head, atom):
                        yield values, option.condition, True
            case lars.And(parts=parts):
                for part in parts:
                    yield from self._heads(part, atom)
            case lars.At(time=time, formula=inner):
                for values, more, is_choice in self._heads(inner, atom):
                    at = unified((time,), (Int(self.time),), values)
                    if at is not None:
                        yield at, more, is_choice
            case lars.Atom() if head.predicate == atom.predicate:
                for one in expanded(head):
                    found = unified(one.args, atom.args, {})
                    if found is not None:
                        yield found, (), False
            case _:
                return

    def _first(self, rest: Sequence[lars.Formula], values: Values) -> Values | None:
        """The last of the ways to satisfy some conditions of a rule."""
        scope = TimeScope((self.time, self.time), self._holding.whole, is_top=True)
        try:
            found = islice(solutions(rest, values, self._holding, scope), MOST_SOLUTIONS)
            fine = (one for one in found if all(self._holds(part, one) for part in rest))
            last = deque(fine, maxlen=1)
        except Unbound:
            return None
        return last[0] if last else None

    def _is_met(self, formula: lars.Formula, values: Values) -> bool:
        """Is a condition satisfied for some values of the variables that have none?"""
        return not isinstance(formula, lars.Not) and self._first([formula], values) is not None

    def _holds(self, formula: lars.Formula, values: Values) -> bool:
        """Does a condition hold? One with variables that nothing gives a value to may do so."""
        try:
            ground = written(formula, values, self._holding.solve)
            return self.prover.structure.entails(ground, self.time)
        except Unbound:
            return True
        except NoValue:
            return False

    # --- conditions that do not hold -------------------------------------------------------------

    def _lack(
        self,
        rule: Rule,
        atom: Atom,
        values: Values,
        left: Sequence[lars.Formula],
        rest: Sequence[lars.Formula],
        is_choice: bool,
    ) -> Lack:
        missing = [bind(one, values) for one in left]
        compared = [one for one in missing if isinstance(one, lars.Comparison)]
        others = [bind(one, values) for one in rest] + compared
        told = [self._unmet(one, others) for one in missing]
        text, time = f"{show(atom)} would hold", self._at(self.time)
        if is_choice:
            text = f"{show(atom)} could be chosen"
        text = f"{text} at {time} if all of this were so"
        if not missing:
            text = f"{show(atom)} may be chosen at {time}, and was not"
        reason = self._node("rule", text, [proof for proof, _ in told])
        reason = replace(reason, rule=place_of(rule), bindings=_told(values))
        # A row makes up for one condition; comparisons may ask for the values that it brings.
        is_one = len(missing) - len(compared) <= 1
        return Lack(reason, [wish for _, rows in told for wish in rows] if is_one else [])

    def _unmet(self, formula: lars.Formula, others: Sequence[lars.Formula]) -> Told:
        """A condition that does not hold, why not, and the rows that may help."""
        node = self._node("unmet", show(formula))
        if not isinstance(formula, lars.Comparison):
            node = replace(node, at=self.time)
        match formula:
            case lars.Not(formula=inner):
                if not self._holds(inner, {}):
                    return node, []
                proofs = self.prover.why(inner, self.prover.whole, self.time)
                rows = [RowChange("-", row.text) for proof in proofs for row in proof.rows]
                return replace(node, premises=tuple(proofs)), rows
            case lars.Aggregate() | lars.Comparison():
                return node, []
        part, inner, note = self.prover.whole, formula, ""
        if isinstance(formula, lars.Within):
            part, inner = select(formula.window, part, self.time), formula.formula
            node = replace(node, interval=(part.first, part.last + 1))
        at = self.time if self.time in part else part.last
        match inner:
            case lars.Atom():
                return self._missing(node, inner, at, others)
            case lars.At(time=Int(value=point), formula=lars.Atom() as atom):
                return self._missing(node, atom, point, others)
            case lars.At(formula=lars.Atom() as atom) | lars.Some(formula=lars.Atom() as atom):
                return self._missing(node, atom, at, others)
            case lars.Always(formula=lars.Atom() as atom) if _is_ground(atom):
                gaps = [t for t in part.timeline if atom not in part.at(t)]
                listed = ", ".join(map(self._at, gaps[:5])) + (", ..." if len(gaps) > 5 else "")
                note = f"not at {listed}"
                if len(gaps) != 1:
                    return replace(node, note=note), []
                made, rows = self._missing(node, atom, gaps[0], others)
                return replace(made, note=note), rows
            case _:
                return node, []

    def _missing(self, node: Proof, atom: Atom, at: int, others: Sequence[lars.Formula]) -> Told:
        """An atom that a condition asks for, and that is not there."""
        if _is_ground(atom) and self._depth < DEEPEST:
            self._depth += 1
            try:
                reasons = self.elsewhere(atom, at)
                if reasons is None and at == self.time and atom.predicate not in self._inputs:
                    reasons = self.reasons(atom)
            finally:
                self._depth -= 1
            if reasons is not None:
                return replace(node, premises=tuple(reasons.proofs)), reasons.wishes
        if atom.predicate not in self._inputs:
            return node, []
        ground = self._grounded(atom, others)
        wish = None if ground is None else row_of(make(ground.name, *ground.args), at)
        return node, [] if wish is None else [wish]

    def _grounded(self, atom: Atom, others: Sequence[lars.Formula]) -> Atom | None:
        """The atom with values for its variables, from a signal for which all else would hold."""
        if _is_ground(atom):
            return atom
        for one in rows_like(self.tables, atom.predicate, MOST_LIKE):
            values: Values | None = {}
            for mine, said in zip(atom.args, one.args, strict=True):
                if values is not None and not is_ground(mine):
                    values = unified((mine,), (said,), values)
            made = None if values is None else bind(atom, values)
            if values is None or not isinstance(made, Atom) or not _is_ground(made):
                continue
            if all(self._holds(bind(other, values), {}) for other in others):
                return made
        return None

    def _node(self, kind: str, text: str, premises: Sequence[Proof] = ()) -> Proof:
        return Proof(
            kind,  # type: ignore[arg-type]
            text,
            premises=tuple(premises),
            met=False,
            time=self.prover.time,
        )

    def _at(self, t: int) -> str:
        return self.prover.time(t)


def violated(prover: AtomProver, rules: Sequence[Rule]) -> Reasons:
    """The constraints that leave a program without an answer, in an answer without them."""
    found, structure = prover.found, prover.structure
    reasons = Reasons([], [])
    for rule in rules:
        for instance in found.grounding.instances_of(rule):
            if rule.head is None and instance.applies(structure, found.time):
                premises = [
                    one
                    for part in instance.body
                    for one in prover.why(part, prover.whole, found.time)
                ]
                node = Proof(
                    "rule",
                    "the program has no answer: this must not be so",
                    at=found.time,
                    rule=place_of(rule),
                    premises=tuple(premises),
                    met=False,
                    time=prover.time,
                )
                reasons.proofs.append(node)
                reasons.wishes.extend(RowChange("-", row.text) for row in node.rows)
    return reasons


def _is_ground(atom: Atom) -> bool:
    return all(map(is_ground, atom.args))


def _told(values: Values) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, show_term(value)) for name, value in values.items() if not is_anonymous(Var(name))
    )
