"""Chains of operators as outlines: words, variables bound, estimates, what is inside."""

from __future__ import annotations

import re
from collections.abc import Iterable

from horai.lang.ec import syntax as ec
from horai.lang.printer import show
from horai.lang.terms import Term, functor
from horai.plan import operators as op
from horai.plan.outline import OperatorOutline, PartOutline, Path
from horai.plan.program import Program
from horai.plan.scopes import names

Names = frozenset[str]
CONTROL = (";", ",", "->", "*->", "|", "")
_FRESH = re.compile(r"~\d+")  # what tells the variables of unfolded clauses apart

_WORDS: dict[type, str] = {
    op.Scan: "join",
    op.Facts: "join",
    op.Stab: "stab",
    op.Walk: "walk",
    op.Lookup: "lookup",
    op.Filter: "filter",
    op.Unify: "unify",
    op.Extend: "extend",
    op.Truth: "truth",
    op.AntiJoin: "anti-join",
    op.Union: "union",
    op.Choice: "choice",
    op.Aggregate: "aggregate",
    op.Builtin: "builtin",
    op.Python: "python",
    op.QueryTime: "query time",
    op.Procedure: "procedure",
}
_SPANS: dict[type, str] = {ec.IntervalOp: "span", ec.Duration: "duration", ec.Allen: "allen"}


class OperatorOutlines:
    """Makes outlines of chains."""

    def __init__(self, program: Program, estimates: dict[Path, float]) -> None:
        self.program = program
        self.estimates = estimates
        self._calls: list[tuple[op.Key, frozenset[int]]] = []

    def chain(self, chain: op.Chain, known: Names, path: Path = ()) -> tuple[OperatorOutline, ...]:
        """The operators of a chain that begins with some variables bound."""
        found = []
        for step in chain.steps:
            found.append(self._operator(step, known, path))
            known |= _binds(step, known)
        return tuple(found)

    def _operator(self, step: op.Operator, known: Names, path: Path) -> OperatorOutline:
        here = (*path, id(step))
        return OperatorOutline(
            operator=_word(step),
            text=_text(step),
            binds=told(_binds(step, known)),
            estimate=self.estimates.get(here, 0.0),
            path=here,
            inside=self._inside(step, known, here),
            note=self._note(step),
        )

    def _inside(self, step: op.Operator, known: Names, path: Path) -> tuple[PartOutline, ...]:
        match step:
            case op.AntiJoin(body=body) | op.Aggregate(body=body):
                return (PartOutline("", self.chain(body, known, path)),)
            case op.Union(branches=branches):
                word = "clause" if _is_call(step) else "branch"
                single = len(branches) == 1
                return tuple(
                    PartOutline("" if single else f"{word} {n}", self.chain(one, known, path))
                    for n, one in enumerate(branches, 1)
                )
            case op.Choice(condition=condition, then=then, otherwise=otherwise):
                met = known | condition.bound
                return (
                    PartOutline("if", self.chain(condition, known, path)),
                    PartOutline("then", self.chain(then, met, path)),
                    PartOutline("else", self.chain(otherwise, known, path)),
                )
            case op.Procedure():
                return self._clauses(step, path)
            case _:
                return ()

    def _clauses(self, step: op.Procedure, path: Path) -> tuple[PartOutline, ...]:
        call = (step.key, step.bound)
        if call in self._calls:
            return ()
        self._calls.append(call)
        branches = self.program.procedures.branches[call]
        found = []
        for number, branch in enumerate(branches, 1):
            given = names(*(arg for i, arg in enumerate(branch.head) if i in step.bound))
            label = "" if len(branches) == 1 else f"clause {number}"
            found.append(PartOutline(label, self.chain(branch.body, given, path)))
        self._calls.pop()
        return tuple(found)

    def _note(self, step: op.Operator) -> str | None:
        match step:
            case op.Scan(bounds=bounds, time=time) if bounds:
                return f"only where {', '.join(_limit(time, bound) for bound in bounds)}"
            case op.Procedure(key=key, bound=bound) if (key, bound) in self._calls:
                return "calls itself"
            case op.Facts(key=key) if key in self.program.dynamic:
                return "grows with the input"
            case _:
                return None


def plain(term: Term) -> str:
    """A term as it was written, also where its variables have been renamed.

    >>> from horai.lang.terms import Var
    >>> plain(Var("Speed~3"))
    'Speed'
    """
    return _FRESH.sub("", show(term))


def told(found: Iterable[str]) -> tuple[str, ...]:
    """Variables that have a name, in order."""
    return tuple(sorted(_FRESH.sub("", name) for name in found if not name.startswith("_#")))


def _limit(time: Term, bound: op.Bound) -> str:
    limit = plain(bound.term).replace("+ -", "-")
    return f"{plain(time)} {'>=' if bound.lower else '=<'} {limit}"


def _is_call(step: op.Union) -> bool:
    """Does it stand for a procedure, whose clauses are its branches?"""
    return (functor(step.term) or ("", 0))[0] not in CONTROL


def _word(step: op.Operator) -> str:
    if isinstance(step, op.SpanOperation):
        return _SPANS[type(step.literal)]
    if isinstance(step, op.Union) and _is_call(step):
        return "procedure"
    if isinstance(step, op.Union) and len(step.branches) == 1:
        return "group"
    return _WORDS[type(step)]


def _text(step: op.Operator) -> str:
    match step:
        case op.AntiJoin():
            return "where there is no"
        case op.Union(branches=branches) if not _is_call(step):
            return "all of" if len(branches) == 1 else "any of"
        case op.Choice():
            return "one of two ways"
        case op.Aggregate(kind=kind, template=template, result=result):
            what = "" if template is None or kind == "count" else f" {plain(template)}"
            return f"{plain(result)} = {kind}{what} over all"
        case _:
            return plain(step.term)


def _binds(step: op.Operator, known: Names) -> Names:
    """The variables that an operator gives a value to."""
    match step:
        case op.AntiJoin() | op.Filter() | op.Truth():
            return frozenset()
        case op.Union(branches=branches) if not _is_call(step):
            return frozenset.intersection(*(one.bound for one in branches)) - known
        case op.Choice(then=then, otherwise=otherwise):
            return (then.bound & otherwise.bound) - known
        case op.Aggregate(result=result):
            return names(result) - known
        case _:
            return names(step.term) - known
