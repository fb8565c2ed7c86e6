"""The compiled machine gives the answers of the reference engine, and of going cell by cell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import event, given
from tests.engine.comparing import Lines, Setting, batches_of, differences, read, seen, tables_of
from tests.strategies.machines import protocol_runs
from tests.strategies.runs import Run, runs
from tests.strategies.streams import END
from tests.weights import examples

from horai.engine import components, session
from horai.engine.answer import Which
from horai.engine.machine import MachineRun
from horai.engine.session import Session
from horai.lang.core.terms import Constant, Float, Int, make
from horai.lang.ec.errors import EngineError
from horai.oracle.ec.session import OracleItem
from horai.plan.ec.machine import machine_of
from horai.plan.ec.settling import Compiled, settling
from horai.plan.pipeline import compile_program
from horai.plan.program import Plan, Stratum

CYCLES = [
    *("initially", "wildcard", "letters", "counter", "effects", "alone", "output", "cycle"),
    *("delay", "delay-between", "delay-if", "postponed", "ending", "negation", "existential"),
    *("disjunction", "if", "edges", "points", "background", "grounding", "dynamic", "inputs"),
]


def machine_or_cells(stratum: Stratum, program: Plan) -> Compiled:
    """Everything that can be compiled at all, what the clockwork can do too."""
    machine = machine_of(stratum, program)
    return None if isinstance(machine, str) else machine


@pytest.fixture(autouse=True, scope="module")
def whenever_possible() -> Iterator[None]:
    """Small runs as well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MachineRun, "few", -1)
        patch.setattr(session, "compiled_strategy", machine_or_cells)
        yield


@examples("heavy")
@given(protocol_runs())
def test_protocols_give_the_answers_of_the_reference(run: Run) -> None:
    setting = Setting(run.cut.queries, run.cut.window)
    assert differences(run.described.text, run.items, setting) is None


@examples("heavy")
@given(runs(CYCLES))
def test_other_rules_give_the_answers_of_the_reference(run: Run) -> None:
    setting = Setting(run.cut.queries, run.cut.window, run.described.tick)
    assert differences(run.described.text, run.items, setting) is None


def answers(run: Run, ways: list[bool]) -> list[dict[Which, Lines]]:
    """The answers of all query times; `ways` says, one after the other, if the machine may run."""
    found = []
    made = Session(read(run.described.text), window=run.cut.window)
    batches = batches_of(run.items, run.cut.queries)
    for place, (query, batch) in enumerate(zip(run.cut.queries, batches, strict=True)):
        with pytest.MonkeyPatch.context() as patch:
            if not ways[place % len(ways)]:
                patch.setattr(components.Components, "_machine", lambda *args: False)
            try:
                found.append(seen(made.advance(query, tables_of(batch))))
            except EngineError as error:
                event(f"refused: {type(error).__name__}")
                return found
    return found


@examples("heavy")
@given(protocol_runs())
def test_the_machine_and_going_cell_by_cell_take_up_what_the_other_has_left(run: Run) -> None:
    by_cells = answers(run, [False])
    assert answers(run, [True]) == by_cells
    assert answers(run, [True, False]) == by_cells
    assert answers(run, [False, True, True]) == by_cells


# --- one by one ----------------------------------------------------------------------------------


def way(text: str) -> str:
    """How the one component with a cycle is settled."""
    program = compile_program(read(text))
    return next(
        f"{how.strategy}: {how.reason}" if how.reason else how.strategy
        for stratum in program.strata
        if (how := settling(stratum, program)).strategy in ("machine", "cells", "clockwork")
    )


COUNTER = """
initiatedAt(n(X)=1,T) :- happensAt(add(X,_),T), \\+ holdsAt(n(X)=_,T).
initiatedAt(n(X)=N,T) :- happensAt(add(X,M),T), holdsAt(n(X)=L,T), N is L+M.
"""


def adds(*numbers: int | float) -> list[OracleItem]:
    terms = [Int(n) if isinstance(n, int) else Float(n) for n in numbers]
    return [
        OracleItem(make("add", Constant("x"), n), None, t, t, t) for t, n in enumerate(terms, 1)
    ]


@pytest.mark.parametrize(
    "numbers", [(1, 2, 3), (1, 0.5, 2), (1, 1 << 58, 1 << 59, 1 << 60, 1 << 61, 5), (1, -4, 2)]
)
def test_numbers_that_only_others_can_work_out(numbers: tuple[int | float, ...]) -> None:
    assert way(COUNTER) == "machine"
    assert differences(COUNTER, adds(*numbers), Setting([9])) is None


def test_an_equation_narrows_the_search_among_instances() -> None:
    text = """
    initiatedAt(met(A,B)=true,T) :- happensAt(meet(A,B),T).
    terminatedAt(met(A,B)=true,T) :- happensAt(gone(P),T), holdsAt(met(A,B)=true,T), (P=A ; P=B).
    """
    machine = machine_of(compile_program(read(text)).strata[0], compile_program(read(text)))
    assert not isinstance(machine, str)
    assert [index.positions for index in machine.indexes] == [(0,), (1,)]


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ("initiatedAt(f(X)=N,T) :- happensAt(e(X),T), aggregate_all(count, holdsAt(f(_)=_,T), N).",
         "more than a test of values"),
        ("initiatedAt(f(X)=a,T) :- happensAt(e(X),T), T0 is T-3, holdsAt(f(X)=a,T0).",
         "asks about another time"),
        ("initiatedAt(f(X)=g(V),T) :- happensAt(e(X),T), holdsAt(f(X)=V,T).",
         "put together only at run time"),
        ("initiatedAt(f(X)=g(1),T) :- happensAt(e(X),T), holdsAt(f(X)=g(V),T), V > 1.",
         "taken apart only at run time"),
        ("initiatedAt(f(X)=V,T) :- happensAt(e(X),T), holdsAt(f(X)=W,T), V is W/2.",
         "computed only at run time"),
    ],
)  # fmt: skip
def test_what_has_no_instructions_has_a_reason(rules: str, reason: str) -> None:
    assert reason in way(rules)
    assert way(rules).startswith("cells: <")


def test_many_entities_need_more_room() -> None:
    """Arrays grow in the midst of a moment, and nothing is lost or said twice."""
    text = """
    happensAt(o(X,V),T) :- happensAt(e(X,V),T), \\+ holdsAt(f(X,V)=on,T).
    initiatedAt(f(X,V)=on,T) :- happensAt(o(X,V),T).
    initiatedAt(f(X,V)=off,T) :- happensAt(e(X,V),T), holdsAt(f(X,V)=on,T).
    fi(f(X,V)=off, f(X,V)=gone, 2).
    ft(f(X,V)=gone, 3).
    """
    people = [Int(number) for number in range(3000)]
    items = [OracleItem(make("e", who, Int(1)), None, t, t, t) for t in (1, 2, 7) for who in people]
    found = seen(Session(read(text)).advance(END, tables_of(items)))["all"]
    wanted = []
    for who in range(len(people)):
        wanted += [f"o({who}, 1) at 1", f"o({who}, 1) at 7"]
        wanted += [f"f({who}, 1)=on (2,3)", f"f({who}, 1)=on (8,inf)"]
        wanted += [f"f({who}, 1)=off (3,5)", f"f({who}, 1)=gone (5,8)"]
    assert [line for line in found if not line.startswith("e(")] == sorted(wanted)
