"""Idioms of older event descriptions, rewritten before rules are built.

- `maxDuration(F=V, F=V2, R)` is an older name of `fi`, and `maxDurationUE` of `fi` with `p`.
- Definitions of statically determined fluents cut away the rest of the work when some list is
  empty, and give the empty list in a second clause. Several rules mean their union here, so the
  second clause adds nothing and the cut may go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from horai.lang.ec.fvp import Key
from horai.lang.ec.spines import conjunction, spine
from horai.lang.ec.syntax import Clause
from horai.lang.operators import is_pair
from horai.lang.report import Report
from horai.lang.terms import Atom, Compound, ListTerm, Term, functor, is_ground

_OLD_DELAYS = (("maxDuration", 3), ("maxDurationUE", 3))
_Pair = tuple[Key | None, Term | None]


def modernise(clauses: Iterable[Clause], report: Report) -> list[Clause]:
    """The clauses in today's forms."""
    renamed = [new for clause in clauses for new in _renamed(clause)]
    kept = [clause for clause in renamed if not _says_nothing(clause)]
    heads = Counter(_head_pair(clause) for clause in kept if clause.body is not None)
    return [_without_cuts(clause, heads, report) for clause in kept]


def _renamed(clause: Clause) -> Iterator[Clause]:
    head = clause.head
    if not isinstance(head, Compound) or functor(head) not in _OLD_DELAYS:
        yield clause
        return
    new_head = Compound("fi", head.args, head.span)
    yield Clause(new_head, clause.body, clause.span, clause.source)
    if head.name == "maxDurationUE":
        postponed = Compound("p", head.args[:1], head.span)
        yield Clause(postponed, None, clause.span, clause.source)


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


def _without_cuts(clause: Clause, heads: Counter[_Pair], report: Report) -> Clause:
    if clause.body is None or _head_pair(clause)[0] is None:
        return clause
    goals = spine(clause.body, ",")
    cuts = [goal for goal in goals if goal == Atom("!")]
    if not cuts or not _is_only_rule(clause, heads):
        return clause
    body = conjunction([goal for goal in goals if goal != Atom("!")])
    hint = "remove it; several rules for one fluent mean their union"
    report.add("H123", "this cut is passed over", clause.source, cuts[0].span, hint)
    return Clause(clause.head, body, clause.span, clause.source)


def _is_only_rule(clause: Clause, heads: Counter[_Pair]) -> bool:
    """True when no other rule could have given intervals that the cut kept away."""
    key, value = _head_pair(clause)
    if heads[(key, value)] > 1:
        return False
    if value is None:
        return sum(count for (other, _), count in heads.items() if other == key) == 1
    return heads[(key, None)] == 0
