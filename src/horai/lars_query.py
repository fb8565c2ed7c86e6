"""Questions about the answers of a LARS program, in its own words.

`h(X)` asks what holds at the last query time, `@3 h(X)` at the query time 3, `@T h(X)` at which.
"""

from __future__ import annotations

from collections.abc import Iterable

from horai import parameters
from horai.errors import QueryError
from horai.lang.diagnostics import did_you_mean
from horai.lang.lars.reader import read_text
from horai.lang.lars.syntax import At, Atom, Predicate
from horai.lang.report import has_errors
from horai.lang.terms import Compound, Int, Term, Var
from horai.lars_result import LarsAnswer
from horai.plan.lars.findings import named
from horai.queries import Bindings, match

FORMS = "h(X) (at the last query time), @3 h(X) (at 3) or @T h(X) (at which query times)"


def ask(
    answers: Iterable[LarsAnswer], text: str, known: Iterable[Predicate] | None = None
) -> list[Bindings]:
    """All answers to a question, each as what its variables stand for.

    A question about none of the `known` predicates is an error, if they are given.
    """
    atom, time = _parse(text)
    if known is not None:
        _check(atom, list(known))
    listed = list(answers)
    if time is None:
        return [found for answer in listed[-1:] for found in _matches(atom, answer, {})]
    queries = [answer.query for answer in listed]
    if isinstance(time, Int) and time.value not in queries:
        some = f"they are {queries[0]} to {queries[-1]}" if queries else "there are none"
        raise QueryError(f"{time.value} is no query time of this run", some)
    found: list[Bindings] = []
    for answer in listed:
        bound = match(time, Int(answer.query), {})
        found += [] if bound is None else _matches(atom, answer, bound)
    return found


def _matches(atom: Atom, answer: LarsAnswer, bound: Bindings) -> list[Bindings]:
    wanted = Compound(atom.name, atom.args)
    rows = (Compound(one.name, one.args) for one in answer.atoms)
    return [found for one in rows if (found := match(wanted, one, bound)) is not None]


def _parse(text: str) -> tuple[Atom, Term | None]:
    line = parameters.text(text, "a query", f"ask {FORMS}").strip().removesuffix(".")
    program, findings = read_text(f"horai :- {line}.")
    if has_errors(findings):
        wrong = "; ".join(finding.message for finding in findings)
        raise QueryError(f"`{line}` cannot be read: {wrong}", f"ask {FORMS}")
    match [rule.body for rule in program.rules]:
        case [(Atom() as atom,)]:
            return atom, None
        case [(At(time=Int() | Var() as time, formula=Atom() as atom),)]:
            return atom, time
        case _:
            raise QueryError(f"`{line}` is not a query", f"ask {FORMS}")


def _check(atom: Atom, known: list[Predicate]) -> None:
    """What no rule and no signal says can have no answer: better say so than answer nothing."""
    if atom.predicate in known:
        return
    names = {named(one): one[0] for one in sorted(known)}
    same = next((full for full, name in names.items() if name == atom.name), None)
    near = same or did_you_mean(named(atom.predicate), names)
    listed = ", ".join(names) or "none"
    hint = f"did you mean {near}?" if near else f"the predicates of the program are: {listed}"
    raise QueryError(f"no predicate {named(atom.predicate)} in the program", hint)
