"""Random descriptions are legal, and the streams set them going."""

from __future__ import annotations

from hypothesis import event, given
from hypothesis import strategies as st
from tests.strategies.descriptions import descriptions
from tests.strategies.parts import Described
from tests.strategies.runs import Run
from tests.strategies.streams import END, streams
from tests.strategies.wild_parts import PREDICATES
from tests.strategies.wild_streams import wild_runs
from tests.weights import examples

from horai.lang.core.diagnostics import Severity
from horai.lang.ec.errors import EngineError
from horai.lang.ec.reader import read_text
from horai.oracle.ec.session import OracleSession
from horai.plan.check import check


@examples("normal")
@given(descriptions())
def test_descriptions_are_legal(described: Described) -> None:
    description, found = read_text(described.text)
    found += check(description, found=found)
    wrong = [f"{f.code} {f.message}" for f in found if f.severity is Severity.ERROR]
    assert not wrong


@examples("normal")
@given(st.data())
def test_descriptions_run(data: st.DataObject) -> None:
    described = data.draw(descriptions())
    description, _ = read_text(described.text)
    session = OracleSession(description, tick=described.tick)
    answer = session.advance(END, data.draw(streams(described.tick)))
    derived = [pair for pair in answer.spans if session.is_output(pair[0], is_fluent=True)]
    event(f"{min(len(derived), 5)} pairs hold")


@examples("normal")
@given(wild_runs())
def test_wild_descriptions_run(run: Run) -> None:
    description, _ = read_text(run.described.text)
    session = OracleSession(description, tick=run.described.tick, predicates=PREDICATES)
    try:
        answer = session.advance(END, run.items)
    except EngineError:
        event("refused")
        return
    outputs = [pair for pair in answer.spans if session.is_output(pair[0], is_fluent=True)]
    outputs_of_events = [e for e in answer.events if session.is_output(e, is_fluent=False)]
    event(f"{min(len(outputs) + len(outputs_of_events), 5)} outputs")
