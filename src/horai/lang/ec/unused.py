"""Helper predicates that drive another engine and that no rule uses.

Files of background knowledge often bring along the plumbing of the engine they were written for:
`preProcessing(Q) :- retract(...), ...`. No rule calls it, so it does no harm to leave it out. What
a rule does call is refused where it stands.
"""

from __future__ import annotations

from collections.abc import Iterable

from horai.lang.diagnostics import Diagnostic
from horai.lang.ec.builtins import EVERYDAY_HEADS, SPECIAL_HEADS
from horai.lang.ec.fvp import Key
from horai.lang.ec.names import nearest
from horai.lang.ec.refused import is_private
from horai.lang.ec.syntax import Clause
from horai.lang.report import Report
from horai.lang.terms import functor, subterms

# Storing, cutting, writing, private predicates: what steers a program or belongs to an engine.
FOREIGN = frozenset({"H113", "H114", "H115", "H116"})
_SPECIAL = sorted(SPECIAL_HEADS)
_NAMED = 3


def unused_helpers(clauses: Iterable[Clause]) -> dict[Key, list[Clause]]:
    """The clauses of predicates that no rule needs, neither directly nor through others.

    Without any rule this tells nothing: the file may be meant for other rules.
    """
    helpers: dict[Key, list[Clause]] = {}
    waiting: list[Clause] = []
    for clause in clauses:
        key = None if clause.head is None else functor(clause.head)
        if key is not None and not _may_be_special(key[0]):
            helpers.setdefault(key, []).append(clause)
        else:
            waiting.append(clause)
    if not waiting:
        return {}
    while waiting:
        for key in _mentioned(waiting.pop()):
            waiting.extend(helpers.pop(key, ()))
    return helpers


def with_callers(foreign: set[Key], helpers: dict[Key, list[Clause]]) -> set[Key]:
    """The predicates together with the unused ones that call them."""
    found = set(foreign)
    while True:
        callers = {
            key
            for key, clauses in helpers.items()
            if key not in found and any(found & _mentioned(clause) for clause in clauses)
        }
        if not callers:
            return found
        found |= callers


def say_passed_over(
    keys: set[Key],
    helpers: dict[Key, list[Clause]],
    why: list[Diagnostic],
    report: Report,
) -> None:
    """One finding per file for all that was left out of it."""
    by_file: dict[str, list[Key]] = {}
    for key, clauses in helpers.items():
        if key in keys:
            by_file.setdefault(clauses[0].source.name, []).append(key)
    for name, left_out in by_file.items():
        first = helpers[left_out[0]][0]
        reasons = [r for r in why if r.source is not None and r.source.name == name]
        span = reasons[0].span if reasons else first.span
        are, them = ("is", "it") if len(left_out) == 1 else ("are", "them")
        report.add(
            "H124",
            f"{_listed(left_out)} {are} passed over: no rule uses {them}",
            first.source,
            span,
            "if rules need what another engine computes here, send it as items of the stream",
            reasons[0].message if reasons else None,
        )


def _listed(keys: list[Key]) -> str:
    shown = [f"`{name}/{arity}`" for name, arity in keys[:_NAMED]]
    more = len(keys) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else shown[0]


def _may_be_special(name: str) -> bool:
    """True for heads with a meaning of their own, also mistyped or compiled ones."""
    if name in EVERYDAY_HEADS:
        return False
    return name in _SPECIAL or is_private(name) or nearest(name, _SPECIAL, 2) is not None


def _mentioned(clause: Clause) -> set[Key]:
    """Every name in a body, wherever it stands."""
    if clause.body is None:
        return set()
    return {key for part in subterms(clause.body) if (key := functor(part)) is not None}
