"""Why, asked of a result: the question is read, checked against the run, and proved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from horai.errors import QueryError, UsageError
from horai.explain.absence import Absences
from horai.explain.conditions import EvidenceSolver, EvidenceWorld
from horai.explain.course import DEEPEST
from horai.explain.ec import CalculusProver, NotProvable, intervals_text, pair
from horai.explain.evidence import Evidence
from horai.explain.proof import Proof, RowChange, time_in
from horai.explain.revision import why_revised
from horai.explain.trial import tried
from horai.lang.core.terms import Compound, Term, Var, functor, is_ground
from horai.oracle.ec.evaluate import room_to_recurse
from horai.oracle.ec.intervals import INF
from horai.runtime.queries import check_known, read_goal
from horai.runtime.values import show
from horai.settings import amount, point_in

if TYPE_CHECKING:
    from horai.result import Result
    from horai.rules import Rules

About = Literal["holds", "start", "end", "revision"]
_SHOWN = 5


class Question(NamedTuple):
    """A fluent with its value, or an event (no value), at a time."""

    entity: Term
    value: Term | None
    at: int

    @property
    def text(self) -> str:
        """What is asked about, as rules write it."""
        return show(self.entity) if self.value is None else pair(self.entity, self.value)


def prover_of(result: Result) -> CalculusProver:
    """What proves the answers of a description."""
    rules, (settings, items, _) = result.rules, result.basis
    raw = result.last
    start = settings.start or 0
    passing = rules.passing.to_description if rules.language == "combined" else ()
    evidence = Evidence(
        items(),
        result.dead_letters,
        raw,
        settings.tick,
        lambda name, arity, is_fluent: not rules.is_output(name, arity, is_fluent),
        {(one.entity.key, one.is_fluent) for one in passing},
    )
    world = EvidenceWorld(evidence, settings.tick, start, raw.query, settings.allen_memory)
    solver = EvidenceSolver(rules.description, evidence, world, rules.predicates)
    if rules.language == "combined":
        from horai.explain.combined import CombinedProver

        return CombinedProver(solver, time_in(settings.unit), result)
    return CalculusProver(solver, time_in(settings.unit))


def why(
    result: Result,
    what: str,
    at: int | str | None,
    about: str = "holds",
    depth: int = DEEPEST,
) -> Proof:
    """Why a fluent has a value at a time, or an event happens then.

    `about` the `start` or the `end` it says why the interval that holds then starts, or ends; about
    its `revision`, which rows have changed what earlier query times said.
    """
    depth = amount(depth, "the depth")
    if result.rules.language != "ec":  # else the rest is not loaded
        from horai.explain.atoms import is_about_atom, why_atom

        if is_about_atom(result, what):
            return why_atom(result, what, at, about, depth)
    if about not in get_args(About):
        raise UsageError(
            f"nothing is known about {about!r}", "ask about holds, start, end or revision"
        )
    with room_to_recurse():
        asked = read_question(result, what, at)
        result.prover.begin(depth)
        if about == "revision":
            if not is_ground(asked.entity) or not (asked.value is None or is_ground(asked.value)):
                raise QueryError(f"{asked.text} has variables", "say what they stand for")
            return why_revised(result, asked.text, *asked)
        return _answer(result, asked, about)


def _answer(result: Result, asked: Question, about: str) -> Proof:
    prover, (entity, value, t) = result.prover, asked
    if value is None:
        if about != "holds":
            raise UsageError(f"{asked.text} is an event: it has no {about}", "ask why it happens")
        event = _instance(prover, asked, [one for one, _ in prover.evidence.events(entity, t, t)])
        if event is None:
            raise UsageError(*_not_so(prover, asked))
        return _proved(lambda: prover.happens(event, t))
    found = prover.evidence.spans(entity, value, t)
    which = _instance(prover, asked, [Compound("=", (f, v)) for f, v, _ in found])
    if which is None:
        raise UsageError(*_not_so(prover, asked))
    assert isinstance(which, Compound)
    fluent, value = which.args
    if about == "holds":
        return _proved(lambda: prover.holds(fluent, value, t))
    start, end = next(one for _, _, spans in found for one in spans)
    if about == "start":
        return _proved(lambda: prover.edge("startI", fluent, value, start))
    if end == INF:
        raise UsageError(
            f"{asked.text} has not ended: it holds from {prover.time(start)} on", "ask why it holds"
        )
    return _proved(lambda: prover.edge("endI", fluent, value, int(end)))


def _proved(find: object) -> Proof:
    try:
        return find()  # type: ignore[operator, no-any-return]
    except NotProvable as missing:
        hint = "a window may have let go of the items behind it: run with a longer one"
        raise UsageError(f"the items of the run do not show why: {missing}", hint) from None


def _instance(prover: CalculusProver, asked: Question, found: list[Term]) -> Term | None:
    """The one instance that a question with variables is about."""
    if len(found) > 1:
        listed = ", ".join(sorted(_written(one) for one in found)[:_SHOWN])
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise UsageError(
            f"{asked.text} is so of {listed}{more} at {prover.time(asked.at)}", "ask about one"
        )
    return found[0] if found else None


def _written(term: Term) -> str:
    if isinstance(term, Compound) and term.name == "=":
        return pair(term.args[0], term.args[1])
    return show(term)


def _not_so(prover: CalculusProver, asked: Question) -> tuple[str, str]:
    """That something is not so, and when it is."""
    at = prover.time(asked.at)
    if asked.value is None:
        times = [t for _, t in prover.evidence.events(asked.entity, None, None)]
        near = sorted(sorted(set(times), key=lambda t: abs(t - asked.at))[:_SHOWN])
        when = f"it happens at {', '.join(map(prover.time, near))}" if near else "it never happens"
        return f"{asked.text} does not happen at {at}: {when}", "ask why not: --not"
    spans = [one for _, _, some in prover.evidence.spans(asked.entity, asked.value) for one in some]
    near_spans = sorted(sorted(spans, key=lambda s: _distance(s, asked.at))[:_SHOWN])
    when = (
        f"it holds in {intervals_text(near_spans, prover.time)}" if near_spans else "it never holds"
    )
    return f"{asked.text} does not hold at {at}: {when}", "ask why not: --not"


def _distance(interval: tuple[int, int | float], t: int) -> float:
    start, end = interval
    return max(start - t, t - end, 0)


def read_subject(rules: Rules, what: str) -> tuple[Term, Term | None]:
    """The fluent with its value, or the event, that a question is about, if rules speak of it."""
    goal = read_goal(what, "rich(chris)=true, or an event: win_lottery(chris)")
    entities = rules.entities
    value: Term | None = None
    if isinstance(goal, Compound) and goal.name == "=" and len(goal.args) == 2:
        goal, value = goal.args
        check_known(goal, entities.fluents, "fluent")
    elif isinstance(goal, Compound) and goal.name in ("holdsAt", "happensAt", "holdsFor"):
        hint = f"ask about {show(goal.args[0])}, and say when"
        raise QueryError(f"{show(goal)} is a query", hint)
    else:
        if functor(goal) in entities.fluents.keys() - entities.events.keys():
            raise QueryError(f"{show(goal)} is a fluent", f"write {show(goal)}=true")
        if rules.language == "combined":
            check_known(goal, {*entities.events, *rules.predicates_of_program}, "name")
        check_known(goal, entities.events, "event")
    if isinstance(goal, Var):
        raise QueryError(f"{show(goal)} is a variable", "ask about a fluent or an event by name")
    return goal, value


def read_question(result: Result, what: str, at: int | str | None) -> Question:
    """What is asked, if rules speak of it and the run covers the time."""
    goal, value = read_subject(result.rules, what)
    prover = result.prover
    time = None if at is None else point_in(at, result.basis.settings.scale, "the time")
    start, query = prover.world.start, prover.world.query
    if time is None:
        _demand_time(prover, Question(goal, value, start))
    assert time is not None
    if not start <= time <= query:
        told = prover.time
        problem = f"{told(time)} is outside the run, which goes from {told(start)} to {told(query)}"
        raise UsageError(problem, "ask about a time in it")
    return Question(goal, value, time)


def _demand_time(prover: CalculusProver, asked: Question) -> None:
    known = ""
    if is_ground(asked.entity):
        known = _not_so(prover, asked)[0].partition(": ")[2]
    raise UsageError(f"say at what time {asked.text} is meant", known or "name a time")


def why_not(result: Result, what: str, at: int | str | None) -> Proof:
    """Why something is not so at a time: what each rule lacks, and the rows that would help."""
    if result.rules.language != "ec":
        from horai.explain.atoms import is_about_atom, why_not_atom

        if is_about_atom(result, what):
            return why_not_atom(result, what, at)
    with room_to_recurse():
        entity, value, t = read_question(result, what, at)
        asked = Question(entity, value, t)
        if not is_ground(entity) or (value is not None and not is_ground(value)):
            raise QueryError(f"{asked.text} has variables", "say what they stand for")
        prover = result.prover
        prover.begin(DEEPEST)
        if prover.is_so(entity, value, t):
            verb = "happens" if value is None else "holds"
            raise UsageError(f"{asked.text} {verb} at {prover.time(t)}", "ask why, without --not")

        def works(change: RowChange) -> bool:
            other = tried(result, [change]).prover
            return other.is_so(entity, value, t)

        entities = result.rules.entities
        absences = Absences(prover, entities)
        if result.rules.language == "combined":
            from horai.explain.combined import CombinedAbsences

            absences = CombinedAbsences(prover, entities)
        return absences.why_not(entity, value, t, works)
