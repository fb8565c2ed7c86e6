"""The predicates of a program: background, derived, or coming from the stream.

`not b(_)`, that there is no `b` at all, takes a predicate and a rule of its own. Relations may be
written like atoms: `leq(18, V)` for `18 <= V`, as programs for Ticker do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

from horai.lang.core.source import rebuilt
from horai.lang.core.terms import Compound, Int, Term, Var, is_anonymous, is_ground, subterms
from horai.lang.lars import syntax as lars
from horai.lang.lars.walk import atoms, children, formula_variables

ARITHMETIC = frozenset("+-*/%^")


def derived(program: lars.Program) -> set[lars.Predicate]:
    """The predicates that rules derive: those of heads that are not background."""
    return {p for rule in program.rules for p in head_predicates(rule)} - background(program)


def background(program: lars.Program) -> set[lars.Predicate]:
    """The predicates that plain facts alone define: they hold at all times."""
    facts = {p for rule in program.rules if is_fact(rule) for p in head_predicates(rule)}
    others = {p for rule in program.rules if not is_fact(rule) for p in head_predicates(rule)}
    return facts - others


def background_facts(program: lars.Program) -> frozenset[lars.Atom]:
    """All facts of the background, ranges written out."""
    known = background(program)
    return frozenset(
        atom
        for rule in program.rules
        if isinstance(rule.head, lars.Atom) and rule.head.predicate in known
        for atom in expanded(rule.head)
    )


def expanded(atom: lars.Atom) -> Iterator[lars.Atom]:
    """The atoms that an atom with ranges stands for.

    >>> [show.args for show in expanded(lars.Atom("n", (Compound("..", (Int(1), Int(2))),)))]
    [(Int(value=1),), (Int(value=2),)]
    """
    columns = [_values(arg) for arg in atom.args]
    return (lars.Atom(atom.name, args, span=atom.span) for args in product(*columns))


def _values(term: Term) -> list[Term]:
    return [Int(number) for number in lars.range_of(term)] if lars.is_range(term) else [term]


def is_fact(rule: lars.Rule) -> bool:
    """True for `p(a, 3).`: a ground atom that no condition and no time restricts."""
    if rule.body or not isinstance(rule.head, lars.Atom):
        return False
    return all(is_ground(arg) and not is_computed(arg) for arg in rule.head.args)


def is_computed(term: Term) -> bool:
    """True when arithmetic occurs in a term."""
    return any(isinstance(part, Compound) and part.name in ARITHMETIC for part in subterms(term))


def head_predicates(rule: lars.Rule) -> set[lars.Predicate]:
    """The predicates that a rule derives."""
    return set() if rule.head is None else {atom.predicate for atom in head_atoms(rule.head)}


def head_atoms(head: lars.Head) -> Iterator[lars.Atom]:
    """The atoms that a head makes true: not those of conditions, nor those it denies."""
    match head:
        case lars.Choice(options=options):
            for option in options:
                yield from head_atoms(option.head)
        case lars.Atom():
            yield head
        case lars.Not():
            return
        case lars.Implies(right=right):
            yield from head_atoms(right)
        case _:
            for part in children(head):
                yield from head_atoms(part)


def body_atoms(rule: lars.Rule) -> Iterator[lars.Atom]:
    """All atoms that conditions of a rule mention, those of its options included."""
    for condition in rule.conditions:
        yield from atoms(condition)


def inputs(program: lars.Program) -> set[lars.Predicate]:
    """The predicates that only a stream can make true."""
    known = {p for rule in program.rules for p in head_predicates(rule)}
    return {atom.predicate for rule in program.rules for atom in body_atoms(rule)} - known


PREFIX = "horai_any_"


def asks_for_any(condition: lars.Formula) -> bool:
    """True for a negation with `_` in it."""
    return isinstance(condition, lars.Not) and any(
        is_anonymous(var) for var in formula_variables(condition).values()
    )


def with_rules_for_any(program: lars.Program) -> lars.Program:
    """The program without `_` under `not`, and with the rules that this takes."""
    if not any(asks_for_any(condition) for rule in program.rules for condition in rule.body):
        return program
    made: list[lars.Rule] = []
    rules: list[lars.Rule] = []
    for rule in program.rules:
        body = tuple(_named(condition, rule, made) for condition in rule.body)
        rules.append(replace(rule, body=body))
    return replace(program, rules=(*rules, *made))


def _named(condition: lars.Formula, rule: lars.Rule, made: list[lars.Rule]) -> lars.Formula:
    if not asks_for_any(condition):
        return condition
    assert isinstance(condition, lars.Not)
    kept: list[Var] = [v for v in formula_variables(condition).values() if not is_anonymous(v)]
    head = lars.Atom(f"{PREFIX}{len(made) + 1}", tuple(kept), span=condition.span)
    made.append(lars.Rule(head, (condition.formula,), rule.source, span=condition.span))
    return lars.Not(head, span=condition.span)


def is_made(name: str) -> bool:
    """True for a predicate that was made here, and that nobody asked for."""
    return name.startswith(PREFIX)


# --- relations that are written like atoms --------------------------------------------------------
#
# Whether such an atom is a relation, only the whole program tells. It is a signal, or derived, if a
# rule or a fact has it as a head, or if it is asked for in a window or at a time, where relations
# make no sense.

_SIGNS: dict[str, lars.Sign] = {
    "eq": "=",
    "neq": "!=",
    "lt": "<",
    "leq": "<=",
    "gt": ">",
    "geq": ">=",
}
_CHAINS: dict[str, tuple[lars.Sign, lars.Sign]] = {
    "ltlt": ("<", "<"),
    "ltleq": ("<", "<="),
    "leqlt": ("<=", "<"),
    "leqleq": ("<=", "<="),
}
_COMPUTED = {"plus": "+", "sum": "+", "minus": "-", "times": "*", "product": "*"}
_COMPUTED |= {"divide": "/", "power": "^", "modulo": "%"}

RELATIONS: frozenset[lars.Predicate] = frozenset(
    {*product((*_SIGNS, "incr"), [2]), *product((*_CHAINS, *_COMPUTED), [3])}
)
"""The relations that have a name."""


def with_relations(rules: list[lars.Rule]) -> list[lars.Rule]:
    """The rules with relations in the place of atoms that can be nothing else."""
    asked = {atom.predicate for rule in rules for atom in body_atoms(rule)} & RELATIONS
    asked -= {predicate for rule in rules for predicate in head_predicates(rule)}
    if not asked:
        return rules
    windowed = {atom.predicate for rule in rules for atom in _in_windows(rule)}
    return [_changed_rule(rule, asked - windowed) for rule in rules]


def doubtful(program: lars.Program) -> Iterator[tuple[lars.Rule, lars.Atom]]:
    """Atoms that may be meant as relations, and are signals because they are so elsewhere."""
    asked = RELATIONS - {p for rule in program.rules for p in head_predicates(rule)}
    for rule in program.rules:
        yield from ((rule, atom) for atom in _bare(rule) if atom.predicate in asked)


def compared(atom: lars.Atom) -> tuple[lars.Comparison, ...]:
    """The comparisons that an atom stands for if it is a relation."""
    first, second, *rest = atom.args
    if atom.name in _SIGNS:
        return (lars.Comparison(_SIGNS[atom.name], first, second, span=atom.span),)
    if atom.name == "incr":
        return (
            lars.Comparison("=", second, Compound("+", (first, Int(1)), atom.span), span=atom.span),
        )
    (third,) = rest
    if atom.name in _CHAINS:
        one, other = _CHAINS[atom.name]
        left = lars.Comparison(one, first, second, span=atom.span)
        return (left, lars.Comparison(other, second, third, span=atom.span))
    computed = Compound(_COMPUTED[atom.name], (first, second), atom.span)
    return (lars.Comparison("=", third, computed, span=atom.span),)


# --- where atoms stand ----------------------------------------------------------------------------


def _bare(rule: lars.Rule) -> Iterator[lars.Atom]:
    """The atoms of conditions that are in no window and at no time."""
    found: list[lars.Atom] = []

    def note(atom: lars.Atom) -> tuple[lars.Formula, ...]:
        found.append(atom)
        return (atom,)

    for condition in rule.conditions:
        _changed(condition, note)
    return iter(found)


def _in_windows(rule: lars.Rule) -> Iterator[lars.Atom]:
    bare = {id(atom) for atom in _bare(rule)}
    for condition in rule.conditions:
        yield from (atom for atom in atoms(condition) if id(atom) not in bare)


# --- putting relations there ----------------------------------------------------------------------

_Change = Callable[[lars.Atom], tuple[lars.Formula, ...]]


def _changed_rule(rule: lars.Rule, relations: set[lars.Predicate]) -> lars.Rule:
    def change(atom: lars.Atom) -> tuple[lars.Formula, ...]:
        return compared(atom) if atom.predicate in relations else (atom,)

    if not any(atom.predicate in relations for atom in _bare(rule)):
        return rule
    head: lars.Head | None = rule.head
    if isinstance(head, lars.Choice):
        options = (replace(o, condition=_all(o.condition, change)) for o in head.options)
        head = replace(head, options=tuple(options))
    return replace(rule, head=head, body=_all(rule.body, change))


def _all(conditions: tuple[lars.Formula, ...], change: _Change) -> tuple[lars.Formula, ...]:
    return tuple(part for condition in conditions for part in _changed(condition, change))


def _changed(formula: lars.Formula, change: _Change) -> tuple[lars.Formula, ...]:
    """The parts that stand for a formula, joined by `and`."""
    match formula:
        case lars.Atom():
            return change(formula)
        case lars.And(parts=parts):
            return (replace(formula, parts=_all(parts, change)),)
        case lars.Not() | lars.Or() | lars.Implies():
            return (rebuilt(formula, lambda part: _one(part, change)),)
        case lars.Aggregate(elements=elements):
            changed = (replace(e, condition=_all(e.condition, change)) for e in elements)
            return (replace(formula, elements=tuple(changed)),)
        case _:
            return (formula,)


def _one(formula: lars.Formula, change: _Change) -> lars.Formula:
    parts = _changed(formula, change)
    return parts[0] if len(parts) == 1 else lars.And(parts, span=formula.span)
