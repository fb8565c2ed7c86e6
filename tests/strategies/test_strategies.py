"""Random descriptions are legal, and the streams set them going."""

from __future__ import annotations

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests.strategies.descriptions import descriptions
from tests.strategies.parts import Described
from tests.strategies.streams import END, streams

from horai.lang.diagnostics import Severity
from horai.lang.ec.builder import read_text
from horai.oracle import Session
from horai.plan.check import check

SETTINGS = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@SETTINGS
@given(descriptions())
def test_descriptions_are_legal(described: Described) -> None:
    description, found = read_text(described.text)
    found += check(description, found=found)
    wrong = [f"{f.code} {f.message}" for f in found if f.severity is Severity.ERROR]
    assert not wrong


@SETTINGS
@given(st.data())
def test_descriptions_run(data: st.DataObject) -> None:
    described = data.draw(descriptions())
    description, _ = read_text(described.text)
    session = Session(description, tick=described.tick)
    answer = session.advance(END, data.draw(streams(described.tick)))
    derived = [pair for pair in answer.spans if session.is_output(pair[0], is_fluent=True)]
    event(f"{min(len(derived), 5)} pairs hold")
