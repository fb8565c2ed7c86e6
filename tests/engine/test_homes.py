"""Which argument makes instances belong together, and what that spares."""

from __future__ import annotations

import pytest

import horai
from horai.engine.core.session import CompiledSession

VOTES = """
initially(open(M)=true) :- motion(M).
initiatedAt(open(M)=false, T) :- happensAt(close(A, M), T), holdsAt(open(M)=true, T).
initiatedAt(open(M)=true, T) :- happensAt(close(A, M), T), holdsAt(open(M)=false, T).
initiatedAt(voted(A, M)=V, T) :- happensAt(vote(A, M, V), T), holdsAt(open(M)=true, T).
"""
SWAPPED = (
    VOTES.replace("close(A, M)", "close(M, A)")
    .replace("voted(A, M)", "voted(M, A)")
    .replace("vote(A, M, V)", "vote(M, A, V)")
)


@pytest.mark.parametrize(("rules", "motion"), [(VOTES, 1), (SWAPPED, 0)])
def test_instances_are_at_home_where_rules_join_them(rules: str, motion: int) -> None:
    text = rules + "".join(f"motion(m{number}).\n" for number in range(3))
    session = CompiledSession(horai.loads(text).description)
    program = session.program
    voted = program.layout.fluents["voted", 2][0]
    assert voted.table.home == motion
    assert program.own == len(program.cyclic)  # nothing has to wait for the last item
