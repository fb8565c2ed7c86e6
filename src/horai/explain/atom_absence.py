"""Why not, of atoms of programs: what each rule that could have given one lacks.

A rule is tried with one condition less, then with two; what is left out for the others to hold is
what it lacks. A row that would make up for that takes open values from other rows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice
from typing import NamedTuple

from horai import io
from horai.explain.absence import DEEPEST, MOST_MISSING, Reasons, field_of, wished
from horai.explain.lars import AtomProver, place_of, rows_like
from horai.explain.proof import Proof, RowChange
from horai.lang.core.arithmetic import NoValue
from horai.lang.core.terms import Int, Var, is_anonymous, is_ground
from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import expanded, inputs
from horai.lang.lars.printer import show
from horai.lang.lars.syntax import Atom, Rule
from horai.lang.lars.walk import bind
from horai.oracle.lars.entailment import Unbound
from horai.oracle.lars.matching import Possible, TimeScope, Values, solutions, unified, written
from horai.oracle.lars.stream import select
from horai.runtime.values import show as show_term

MOST_SOLUTIONS = 200
"""So many ways to satisfy the other conditions are looked at; the last of them is told."""
MOST_LIKE = 50
"""So many rows of a predicate are looked at for values that nothing else gives."""


class AtomLack(NamedTuple):
    """A rule with what its variables stand for, and the conditions that it lacks."""

    rule: Rule
    values: Values
    unmet: list[Proof]
    wishes: list[RowChange]
    is_choice: bool


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
        lacks = [lack for rule in self._rules for lack in self._lacks(rule, atom)]
        lacks.sort(key=lambda lack: len(lack.unmet))
        reasons, wishes = Reasons([], []), list[RowChange]()
        for lack in lacks:
            text = f"{show(atom)} would hold at {self._at(self.time)} if all of this were so"
            if lack.is_choice:
                text = (
                    f"{show(atom)} could be chosen at {self._at(self.time)} if all of this were so"
                )
            if not lack.unmet:
                text = f"{show(atom)} may be chosen at {self._at(self.time)}, and was not"
            node = replace(
                self._node("rule", text, lack.unmet),
                rule=place_of(lack.rule),
                bindings=_told(lack.values),
            )
            inside = wished(node)
            own = tuple(wish for wish in dict.fromkeys(lack.wishes) if wish not in inside)
            reasons.proofs.append(replace(node, changes=own))
            wishes += lack.wishes
        if atom.predicate in self._inputs:
            wish = _row(atom, self.time)
            node = self._node("unmet", f"no row of the input says {show(atom)}")
            reasons.proofs.append(replace(node, at=self.time, changes=(wish,) if wish else ()))
            wishes += [wish] if wish else []
        return Reasons(reasons.proofs, wishes)

    def elsewhere(self, atom: Atom, t: int) -> Reasons | None:
        """Why another language does not tell of an atom; None if none could."""
        return None

    # --- what a rule lacks -----------------------------------------------------------------------

    def _lacks(self, rule: Rule, atom: Atom) -> Iterator[AtomLack]:
        for values, more, is_choice in self._heads(rule.head, atom):
            body = (*rule.body, *more)
            for missing in range(MOST_MISSING + 1):
                if not missing and not is_choice:
                    continue
                found = False
                for left in combinations(range(len(body)), missing):
                    rest = [one for place, one in enumerate(body) if place not in left]
                    unmet = [body[place] for place in left]
                    one = self._first(rest, values)
                    if one is not None and not any(self._is_met(part, one) for part in unmet):
                        found = True
                        yield self._lack(rule, one, unmet, rest, is_choice)
                if found:
                    break

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
        values: Values,
        left: Sequence[lars.Formula],
        rest: Sequence[lars.Formula],
        is_choice: bool,
    ) -> AtomLack:
        missing = [bind(one, values) for one in left]
        compared = [one for one in missing if isinstance(one, lars.Comparison)]
        others = [bind(one, values) for one in rest] + compared
        unmet, wishes = list[Proof](), list[RowChange]()
        for one in missing:
            proof, rows = self._unmet(one, others)
            unmet.append(proof)
            wishes += rows
        # A row makes up for one condition; comparisons may ask for the values that it brings.
        told = wishes if len(missing) - len(compared) <= 1 else []
        return AtomLack(rule, values, unmet, told, is_choice)

    def _unmet(
        self, formula: lars.Formula, others: Sequence[lars.Formula]
    ) -> tuple[Proof, list[RowChange]]:
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

    def _missing(
        self, node: Proof, atom: Atom, at: int, others: Sequence[lars.Formula]
    ) -> tuple[Proof, list[RowChange]]:
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
        wish = None if ground is None else _row(ground, at)
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


def _row(atom: Atom, t: int) -> RowChange | None:
    """The row that says an atom at a time; None if it cannot be written."""
    args = [field_of(arg) for arg in atom.args]
    if not _is_ground(atom) or any(arg is None for arg in args):
        return None
    return RowChange("+", "|".join([atom.name, str(t), str(t), *map(str, args)]))


def _is_ground(atom: Atom) -> bool:
    return all(map(is_ground, atom.args))


def _told(values: Values) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, show_term(value)) for name, value in values.items() if not is_anonymous(Var(name))
    )
