"""Idioms of older event descriptions, rewritten before rules are built.

- `maxDuration(F=V, F=V2, R)` is an older name of `fi`, and `maxDurationUE` of `fi` with `p`.
- Definitions of statically determined fluents cut away the rest of the work when some list is
  empty, and give the empty list in a second clause. Several rules mean their union here, so the
  second clause adds nothing and the cut may go.
- `initiatedAt(F=V, T1, -1, T2) :- T1=<(-1), -1<T2.` initiates a value before time begins, which is
  `initially(F=V)`.
- `collectGrounds([E1, E2], domain(X))` says from which input a domain is filled; today this is a
  `dynamicDomain` and groundings of the input entities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from horai.lang.ec.fvp import Key
from horai.lang.ec.spines import conjunction, spine
from horai.lang.ec.syntax import Clause
from horai.lang.operators import is_pair
from horai.lang.report import Report
from horai.lang.terms import Atom, Compound, Int, ListTerm, Term, Var, functor, is_ground

_OLD_DELAYS = (("maxDuration", 3), ("maxDurationUE", 3))
_CUT = Atom("!")
_Pair = tuple[Key | None, Term | None]


def modernise(clauses: Iterable[Clause], report: Report) -> list[Clause]:
    """The clauses in today's forms."""
    renamed = [new for clause in clauses for new in _renamed(clause)]
    kept = [clause for clause in renamed if not _says_nothing(clause)]
    heads = Counter(_head_pair(clause) for clause in kept if clause.body is not None)
    cuts: list[Clause] = []
    modern = [_without_cuts(clause, heads, cuts) for clause in kept]
    _report_cuts(cuts, report)
    return [*modern, *_collected(modern)]


def _renamed(clause: Clause) -> Iterator[Clause]:
    head = clause.head
    if isinstance(head, Compound) and _is_before_time(head, clause.body):
        first = Compound("initially", head.args[:1], head.span)
        yield Clause(first, None, clause.span, clause.source)
        return
    if not isinstance(head, Compound) or functor(head) not in _OLD_DELAYS:
        yield clause
        return
    new_head = Compound("fi", head.args, head.span)
    yield Clause(new_head, clause.body, clause.span, clause.source)
    if head.name == "maxDurationUE":
        postponed = Compound("p", head.args[:1], head.span)
        yield Clause(postponed, None, clause.span, clause.source)


def _is_before_time(head: Compound, body: Term | None) -> bool:
    """True for an initiation at -1 on no other condition than that a window reaches so far back."""
    if functor(head) != ("initiatedAt", 4) or head.args[2] != Int(-1):
        return False
    bounds = {arg for arg in (head.args[1], head.args[3]) if isinstance(arg, Var)}
    return all(
        isinstance(goal, Compound)
        and goal.name in ("<", ">", "=<", ">=")
        and all(isinstance(arg, Int) or arg in bounds for arg in goal.args)
        for goal in (spine(body, ",") if body is not None else ())
    )


def _says_nothing(clause: Clause) -> bool:
    """True for `holdsFor(F=V, []).`"""
    head = clause.head
    return (
        clause.body is None
        and isinstance(head, Compound)
        and functor(head) == ("holdsFor", 2)
        and head.args[1] == ListTerm(())
    )


def _head_pair(clause: Clause) -> _Pair:
    """Fluent name and value of a holdsFor head; None stands for any value."""
    head = clause.head
    if not isinstance(head, Compound) or functor(head) != ("holdsFor", 2):
        return (None, None)
    pair = head.args[0]
    if not isinstance(pair, Compound) or not is_pair(pair):
        return (None, None)
    fluent, value = pair.args
    return (functor(fluent), value if is_ground(value) else None)


def _without_cuts(clause: Clause, heads: Counter[_Pair], cuts: list[Clause]) -> Clause:
    if clause.body is None or _head_pair(clause)[0] is None:
        return clause
    goals = spine(clause.body, ",")
    if _CUT not in goals or not _is_only_rule(clause, heads):
        return clause
    cuts.append(clause)
    body = conjunction([goal for goal in goals if goal != _CUT])
    return Clause(clause.head, body, clause.span, clause.source)


def _report_cuts(clauses: list[Clause], report: Report) -> None:
    """Say once per file that cuts were passed over: where there is one, there are often more."""
    by_file: dict[str, list[Clause]] = {}
    for clause in clauses:
        by_file.setdefault(clause.source.name, []).append(clause)
    for found in by_file.values():
        first = found[0]
        assert first.body is not None
        cut = next(goal for goal in spine(first.body, ",") if goal == _CUT)
        hint = "remove it; several rules for one fluent mean their union"
        note = f"this file has {len(found)} rules with such cuts" if len(found) > 1 else None
        report.add("H123", "this cut is passed over", first.source, cut.span, hint, note)


def _is_only_rule(clause: Clause, heads: Counter[_Pair]) -> bool:
    """True when no other rule could have given intervals that the cut kept away."""
    key, value = _head_pair(clause)
    if heads[(key, value)] > 1:
        return False
    if value is None:
        return sum(count for (other, _), count in heads.items() if other == key) == 1
    return heads[(key, None)] == 0


def _collected(clauses: list[Clause]) -> Iterator[Clause]:
    """Dynamic domains, and groundings of input entities, that `collectGrounds` stands for."""
    declared = {_first(clause) for clause in clauses if _key(clause) == ("dynamicDomain", 1)}
    grounded = {pair for clause in clauses for pair in _grounded(clause)}
    made: set[Term] = set()
    for clause in clauses:
        head = clause.head
        if clause.body is not None or not isinstance(head, Compound):
            continue
        if functor(head) != ("collectGrounds", 2) or not isinstance(head.args[0], ListTerm):
            continue
        entities, domain = head.args[0].items, head.args[1]
        if not isinstance(domain, Compound):
            continue
        if functor(domain) not in declared:
            declared.add(functor(domain))
            yield Clause(
                Compound("dynamicDomain", (domain,), head.span), None, clause.span, clause.source
            )
        for entity in entities:
            # A grounding that is written out already fills the domain, and may restrict more.
            if (_entity_key(entity), functor(domain)) not in grounded and entity not in made:
                made.add(entity)
                grounding = Compound("grounding", (entity,), head.span)
                yield Clause(grounding, domain, clause.span, clause.source)


def _key(clause: Clause) -> Key | None:
    return None if clause.head is None else functor(clause.head)


def _first(clause: Clause) -> Key | None:
    return functor(clause.head.args[0]) if isinstance(clause.head, Compound) else None


def _grounded(clause: Clause) -> Iterator[tuple[Key | None, Key | None]]:
    """The entity of a grounding with each predicate of its body."""
    if _key(clause) == ("grounding", 1) and isinstance(clause.head, Compound) and clause.body:
        for goal in spine(clause.body, ","):
            yield _entity_key(clause.head.args[0]), functor(goal)


def _entity_key(entity: Term) -> Key | None:
    if isinstance(entity, Compound) and is_pair(entity):
        return functor(entity.args[0])
    return functor(entity)
