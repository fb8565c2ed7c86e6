"""A checker of proofs: every step follows from the definitions, every leaf is in input or facts.

Each statement of a proof, and the body of each rule with its bindings, becomes a condition of a
rule of its own; engines run with all these rules over the same input and have to find every one of
them satisfied: the reference, and one that shares no code with what proves. Each condition of a
rule has its premise. Where nothing rests on absence, the rows of the proof alone have to be enough
for what it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import horai
from horai.explain.proof import Place, Proof
from horai.io import Item, Narrative
from horai.lang.core.reader import read_only_clauses, read_term
from horai.lang.core.source import SourceText
from horai.lang.core.terms import Compound, Term, functor, is_anonymous, make, substitute, variables
from horai.lang.ec.syntax import (
    Call,
    Compare,
    Conjunction,
    Declaration,
    Edge,
    EventDescription,
    EventRule,
    Happens,
    HoldsAt,
    HoldsFor,
    HoldsForRule,
    Initially,
    InitiatedAt,
    Initiation,
    InputFluent,
    IntervalOp,
    Is,
    Termination,
    walk,
)
from horai.result import Result
from horai.runtime.inputs import row_text
from horai.runtime.values import show

DERIVED = ("holds", "happens", "initiated", "terminated")
FEW = 2
"""So many proofs are tried with their own rows alone: each takes a run."""
NOW = "checking_now"
JUDGES = ("reference", "compiled")
OF_EVENTS = re.compile(r"(holdsAt|happensAt)\(")


def wrong(result: Result, proofs: Iterable[Proof]) -> list[str]:
    """What is wrong with proofs of a result."""
    listed = list(proofs)
    found = [one for proof in listed for one in [*_leaves(result, proof), *_rows(result, proof)]]
    probes = [probe for proof in listed for node in of_events(proof) for probe in _probes(node)]
    for judge in JUDGES:
        found += _unsatisfied(result, list(dict.fromkeys(probes)), judge)
    found += [one for proof in listed for one in _unproved(proof)]
    return found + [one for proof in listed[:FEW] for one in _not_enough(result, proof)]


# --- statements, and bodies of rules --------------------------------------------------------------


def _probes(node: Proof) -> Iterator[tuple[str, str, int | None]]:
    """Conditions that must be satisfied; of interval lists also their variable, and a time."""
    if node.claim.startswith("initially("):
        yield f"holdsAt({node.text},start)", "", None
    elif node.claim:
        yield node.claim, "", None
    if node.rule is None or node.kind == "fact" or node.claim.startswith("initially("):
        return
    bindings = {name: read_term(text) for name, text in node.bindings}
    head, body = _clause(node.rule)
    if body is not None and show(head).startswith("holdsFor("):
        if not any(map(is_anonymous, variables(body).values())):  # what they stand for is not told
            assert isinstance(head, Compound)
            yield show(substitute(body, bindings)), show(head.args[1]), node.at
    elif body is not None and not variables(head).keys() - bindings.keys():  # lists are not told
        yield show(substitute(body, bindings)), "", None


def of_events(node: Proof, inside: bool = True) -> Iterator[Proof]:
    """The statements of the Event Calculus, not those about what an atom of a program rests on."""
    if node.kind in ("holds", "happens", "item", "chosen"):
        inside = OF_EVENTS.match(node.claim) is not None
    if inside:
        yield node
    for premise in node.premises:
        yield from of_events(premise, inside)


def _clause(place: Place) -> tuple[Term, Term | None]:
    clauses, findings = read_only_clauses(SourceText("rule", place.text))
    assert not findings, place
    assert clauses[0].head is not None
    return clauses[0].head, clauses[0].body


def _unsatisfied(
    result: Result, probes: list[tuple[str, str, int | None]], judge: str
) -> Iterator[str]:
    """Conditions that an engine does not find satisfied."""
    if not probes:
        return
    start = result.prover.world.start
    rules = []
    for number, (condition, intervals, at) in enumerate(probes):
        if at is None:
            asked = condition.replace(",start)", f",{start})")
            rules.append(f"happensAt(checked({number}),T__) :- happensAt({NOW},T__), ({asked}).")
        else:
            rules.append(f"holdsFor(checked_for({number})=true,{intervals}) :- {condition}.")
    found = again(result, [*result.basis.items()], "\n".join(rules), judge)
    for number, (condition, _, at) in enumerate(probes):
        if at is None:
            if not found.query(f"happensAt(checked({number}),T)"):
                yield f"{judge} does not find {condition}"
        elif not found.holds_at(f"checked_for({number})=true", at):
            yield f"{judge} does not find {condition} at {at}"


def again(
    result: Result,
    tables: list[horai.io.ItemTable],
    more: str = "",
    judge: str = "reference",
) -> Result:
    """The run again by another engine, with more rules."""
    query, settings = result.last.query, result.basis.settings
    texts = "\n".join(text for _, text in result.rules.sources["ec"])
    rules = horai.loads(f"{texts}\n{more}", predicates=list(result.rules.predicates.values()))
    more_settings: dict[str, Any] = {"tick": settings.tick}
    if result.rules.language == "combined":
        more_settings = {}  # there it is the clock
        program = "\n".join(text for _, text in result.rules.sources["lars"])
        rules = horai.combine(rules, horai.loads(program, language="lars"))
    now = Item(1, NOW, "event", "points", query, query, None, None, (), "", 0)
    given = Narrative((*tables, *Narrative.from_items([now]).tables), [])
    return rules.run(
        given,
        engine=judge,
        start=settings.start,
        end=query,
        window=settings.window,
        step=settings.step,
        allen_memory=settings.allen_memory,
        **more_settings,
    )


# --- leaves --------------------------------------------------------------------------------------


def _leaves(result: Result, proof: Proof) -> Iterator[str]:
    """Statements that must be proved further, and are not."""
    for node in proof.leaves:
        if node.kind in DERIVED and node.rule is None and node.note != "as proved above":
            yield f"{node.says} rests on nothing"
    for node in of_events(proof):
        if node.kind == "fact":
            listed = result.rules.description.facts
            name, arity = _key(node.text)
            rows = listed[name, arity].rows
            if not any(show(make(name, *row)) == node.text for row in rows):
                yield f"there is no fact {node.text}"


def _key(text: str) -> tuple[str, int]:
    term = read_term(text)
    return getattr(term, "name", ""), len(getattr(term, "args", ()))


def _rows(result: Result, proof: Proof) -> Iterator[str]:
    items = {
        Place(item.file, item.line, row_text(item)): item
        for table in result.basis.items()
        for item in table.items()
    }
    for node in proof.walk():
        if node.kind == "item" and node.row not in items:
            yield f"the row {node.row} of {node.says} is not in the input"


# --- premises that suffice -----------------------------------------------------------------------


def _unproved(proof: Proof) -> Iterator[str]:
    """Conditions of rules that no premise speaks of."""
    for node in of_events(proof):
        if node.rule is None or not node.premises or node.kind == "holds":
            continue
        body = _clause(node.rule)[1]
        known = {name: read_term(text) for name, text in node.bindings}
        claims = {premise.claim for premise in node.premises}
        for condition in _conjuncts(body):
            text = show(substitute(condition, known))
            if _is_plain(condition) and "_" not in text and text not in claims:
                yield f"no premise of {node.says} says {text}"


def _conjuncts(term: Term | None) -> Iterator[Term]:
    if isinstance(term, Compound) and term.name == "," and len(term.args) == 2:
        for part in term.args:
            yield from _conjuncts(part)
    elif term is not None:
        yield term


def _is_plain(condition: Term) -> bool:
    return isinstance(condition, Compound) and condition.name in ("happensAt", "holdsAt", "<", ">")


def _not_enough(result: Result, proof: Proof) -> Iterator[str]:
    """Proofs whose rows alone do not give what they prove, where nothing has to be absent."""
    if result.rules.language == "combined":
        return
    if proof.at is None or not proof.claim or not is_positive(result.rules.description):
        return
    rows = set(proof.rows)
    kept = [
        item
        for table in result.basis.items()
        for item in table.items()
        if Place(item.file, item.line, row_text(item)) in rows
    ]
    found = again(result, list(Narrative.from_items(kept).tables))
    if not found.query(proof.claim):
        yield f"the rows {sorted(map(str, rows))} are not enough for {proof.says}"


def is_positive(description: EventDescription) -> bool:
    """Can fewer items only make less hold? Then nothing may rest on absence, or on an end."""
    values: dict[object, set[Term]] = {}
    for rule in description.rules:
        if isinstance(rule, Initiation | Initially):
            values.setdefault(functor(rule.fvp.fluent), set()).add(rule.fvp.value)
    for rule in description.rules:
        if not isinstance(rule, POSITIVE):
            return False
        body = getattr(rule, "body", None)
        literals = [] if body is None else list(walk(body))
        if not all(isinstance(one, ALLOWED) for one in literals):
            return False
        if any(isinstance(one, IntervalOp) and "complement" in one.kind for one in literals):
            return False
        breaks = isinstance(rule, Termination) or (
            isinstance(rule, Initiation) and len(values[functor(rule.fvp.fluent)]) > 1
        )
        if breaks and any(isinstance(one, HoldsAt | Edge | InitiatedAt) for one in literals):
            return False
    return True


POSITIVE = (Initiation, Termination, Initially, EventRule, HoldsForRule, InputFluent, Declaration)
ALLOWED = (Conjunction, Happens, HoldsAt, HoldsFor, IntervalOp, Compare, Is, Call, InitiatedAt)


def questions(result: Result, most: int = 1000) -> Iterator[tuple[str, int]]:
    """Everything that a run has found, each with a time at which it is so."""
    for row in result.rows("final")[:most]:
        args = ",".join(map(horai.io.to_source, row.args))
        name = (
            f"{horai.io.quote_atom(row.name)}({args})"
            if row.args
            else horai.io.quote_atom(row.name)
        )
        if row.kind == "event":
            assert row.time is not None
            yield name, row.time
            continue
        assert row.start is not None
        pair = name if row.value is None else f"{name}={horai.io.to_source(row.value)}"
        last = result.last.query if row.end is None else min(row.end - 1, result.last.query)
        if row.start <= result.last.query:
            yield pair, max(row.start, (row.start + last) // 2)
