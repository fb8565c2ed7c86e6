"""Why, asked of a result: the question is read, checked against the run, and proved.

Why an answer was revised is told by the rows that changed it between two query times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from horai.errors import QueryError, UsageError, counted
from horai.explain.absence import Absences
from horai.explain.conditions import EvidenceSolver, EvidenceWorld
from horai.explain.ec import CalculusProver, NotProvable, intervals_text, pair
from horai.explain.evidence import Evidence
from horai.explain.proof import DEEPEST, Place, Proof, RowChange, time_in
from horai.explain.trial import tried
from horai.io import AnswerRow
from horai.lang.core.terms import Compound, Term, Var, children, functor, is_ground
from horai.oracle.ec.intervals import INF
from horai.oracle.ec.session import room_to_recurse
from horai.runtime.inputs import row_text
from horai.runtime.queries import check_known, read_goal
from horai.runtime.values import plain, show
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
        from horai.explain.combined import is_about_atom, why_atom

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


def _proved(find: Callable[[], Proof]) -> Proof:
    try:
        return find()
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
    near_spans = sorted(
        sorted(spans, key=lambda s: max(s[0] - asked.at, asked.at - s[1], 0))[:_SHOWN]
    )
    when = (
        f"it holds in {intervals_text(near_spans, prover.time)}" if near_spans else "it never holds"
    )
    return f"{asked.text} does not hold at {at}: {when}", "ask why not: --not"


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
            check_known(goal, [*entities.events, *sorted(rules.predicates_of_program)], "name")
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
        from horai.explain.combined import is_about_atom, why_not_atom

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


# --- why an answer was revised -------------------------------------------------------------------

MOST_NAMED = 5
"""So many rows are named where none of them alone has changed the answer."""


class Turn(NamedTuple):
    """A query time at which it became known that something is so, or is not; and the one before."""

    query: int
    before: int
    is_so: bool


def why_revised(result: Result, text: str, entity: Term, value: Term | None, t: int) -> Proof:
    """Which rows have changed what was known about a time, once it had been answered."""
    turns = _turns(result, entity, value, t)
    if not turns:
        problem = f"what was said of {text} at {result.prover.time(t)} was not revised"
        raise UsageError(problem, "ask why it is so, or with --not why it is not")
    time = result.prover.time
    node = Proof("revised", f"{text} at {time(t)} was revised", time=time)
    told = tuple(_told(result, text, (entity, value, t), turn) for turn in turns)
    return replace(node, premises=told)


def _turns(result: Result, entity: Term, value: Term | None, t: int) -> list[Turn]:
    """When the answer about a time has changed, after the first one."""
    name = getattr(entity, "name", "")
    wanted = (name, tuple(map(plain, children(entity))), None if value is None else plain(value))
    changes: dict[int, list[AnswerRow]] = {}
    for row in result.changelog:
        if (row.name, tuple(row.args), row.value) == wanted and _covers(row, t):
            changes.setdefault(row.query or 0, []).append(row)
    turns: list[Turn] = []
    is_so = False
    queries = [answer.query for answer in result.answers]
    for number, query in enumerate(queries):
        ops = [row.op for row in changes.get(query, ())]
        now = ops[-1] == "+" if ops else is_so  # what is taken back comes before what is new
        if now != is_so and number and queries[number - 1] >= t:
            turns.append(Turn(query, queries[number - 1], now))
        is_so = now
    return turns


def _covers(row: AnswerRow, t: int) -> bool:
    if row.kind == "event":
        return row.time == t
    return row.start is not None and row.start <= t and (row.end is None or t < row.end)


def _told(result: Result, text: str, about: tuple[Term, Term | None, int], turn: Turn) -> Proof:
    """A change of the answer, with the rows behind it."""
    (entity, value, t), time = about, result.prover.time

    def still(rows: Sequence[Place]) -> bool:
        """Would it be as before without the rows?"""
        changes = [RowChange("-", str(row)) for row in rows]
        other = tried(result, changes, end=turn.query).prover
        return other.is_so(entity, value, t) != turn.is_so

    found = _few(_candidates(result, turn), still)
    verb = "is so" if turn.is_so else "is not so"
    node = Proof("revised", f"{text} at {time(t)} {verb} since the query time {time(turn.query)}")
    named = found[:MOST_NAMED]
    premises = tuple(Proof("item", row.text, row=row, note=note) for row, note in named)
    more = len(found) - MOST_NAMED
    note = "no late row is behind it: it became known as time passed" if not found else ""
    if more > 0:
        note = f"and {counted(more, 'row')} more, all together"
    return replace(node, premises=premises, note=note)


def _candidates(result: Result, turn: Turn) -> dict[Place, str]:
    """The rows that came late, or took something back, between two query times."""
    found: dict[Place, str] = {}
    for table in result.basis.items():
        columns = {name: table.table.column(name).to_numpy() for name in ("op", "arrival", "start")}
        came = (columns["arrival"] > turn.before) & (columns["arrival"] <= turn.query)
        rows = (came & ((columns["op"] < 0) | (columns["start"] <= turn.before))).nonzero()[0]
        for item in replace(table, table=table.table.take(rows)).items():
            what = "a retraction" if item.op < 0 else "late"
            note = f"{what}: arrived at {result.prover.time(item.arrival)}"
            found[Place(item.file, item.line, row_text(item))] = note
    return found


def _few(
    candidates: dict[Place, str], still: Callable[[Sequence[Place]], bool]
) -> list[tuple[Place, str]]:
    """Few rows without which it would be as before, found by halves; none if they do not matter."""
    rows = list(candidates)
    if not rows or not still(rows):
        return []
    while len(rows) > 1:
        halves = rows[: len(rows) // 2], rows[len(rows) // 2 :]
        half = next((one for one in halves if still(one)), None)
        if half is None:
            break  # it takes rows of both
        rows = half
    return [(row, candidates[row]) for row in rows]
