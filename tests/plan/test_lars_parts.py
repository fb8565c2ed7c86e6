"""How LARS programs are split: by which argument, and why not."""

from __future__ import annotations

import pytest

import horai
from horai.plan.split.lars import Parts, ProgramPart, parts_of
from horai.report.plan import part_lines, parts_json


def parts(text: str) -> Parts:
    return parts_of(horai.loads(text, language="lars").in_points("1s"))


def only(text: str) -> ProgramPart:
    (part,) = parts(text).parts
    return part


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("h(X) :- b(X) [2 s].", {"h": 0, "b": 0}),
        ("h(X,Y) :- b(Y,X) [2 s], not c(X).", {"h": 0, "b": 1, "c": 0}),
        ("h(X) :- b(X,Y), c(Y,X). h(X) :- d(X).", {"h": 0, "b": 0, "c": 1, "d": 0}),
        # What looks good in one rule is excluded by another.
        ("h(X,Y) :- b(X,Y). k(Y) :- h(_,Y).", {"h": 1, "b": 1, "k": 0}),
        ("h(X) :- g(X), not b(X,_) [3]. g(a).", {"h": 0, "b": 0, "horai_any_1": 0}),
        ("h(v1) :- b(v1,3) [2].", {"h": 0, "b": 0}),
        ("h(X) :- b(X,Y) [1 # per b(A,_)].", {"h": 0, "b": 0}),
        ("h(X,Y) :- b(X,Y) [1 # per b(x,A), b(_,A)].", {"h": 1, "b": 1}),
        ("h(X,N) :- c(X), N = count { Y : b(X,Y) [2] }.", {"h": 0, "b": 0, "c": 0}),
        ("h(X) :- [3] always (b(X) -> c(X)), d(X).", {"h": 0, "b": 0, "c": 0, "d": 0}),
    ],
)
def test_rules_are_split_by_what_all_their_atoms_name(text: str, places: dict[str, int]) -> None:
    part = only(text)
    assert part.unsplit is None
    assert {name: place for (name, _), place in part.places.items()} == places


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("h :- b(X).", "h has no arguments to split by"),
        ("h(X) :- b(X), c [2].", "c has no arguments to split by"),
        ("h(X) :- b(X), c(Y).", "its atoms have no argument in common"),
        ("h(X) :- b(X), not c(_).", "it asks whether there is any"),
        ("h(X) :- b(X) [3 #].", "a window of the last signals counts those of all names"),
        (
            "h(X) :- always b(X) [3 # per b(A)].",
            "`always` in a window of groups looks back as far as the longest group",
        ),
        ("h(X) :- b(X) [1 # per b].", "the window has one group for all b"),
        ("h(X,Y) :- b(X,Y) [1 # per b(_,_)].", "its atoms have no argument in common"),
        ("h(X + 1) :- b(X).", "its atoms have no argument in common"),
        ("h(X,N) :- b(X), N = count { Y : c(Y) }.", "its atoms have no argument in common"),
        (
            "h(X,Y) :- b(X,Y). k(X) :- h(X,_). l(Y) :- h(_,Y).",
            "no argument of b/2, h/2, k/1, l/1 is common to all of the rules",
        ),
    ],
)
def test_reasons(text: str, reason: str) -> None:
    part = only(text)
    assert part.unsplit is not None
    assert part.unsplit.reason == reason
    assert part.places == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("h(X) :- b(X). :- h(a).", "where a constraint is broken, nothing has an answer"),
        ("{ h(X) } :- b(X).", "there may be several answers"),
        ("h(X) ; k(X) :- b(X).", "there may be several answers"),
        (
            "h(X) :- b(X), not k(X). k(X) :- b(X), not h(X).",
            "predicates depend on each other through `not`, so there may be several answers",
        ),
    ],
)
def test_programs_with_several_answers_stay_in_one_piece(text: str, reason: str) -> None:
    found = parts(text)
    assert found.whole is not None
    assert found.whole.reason == reason
    assert not found.are_split


def test_parts_are_connected_by_what_rules_derive_not_by_signals() -> None:
    text = "h(X) :- b(X). k(Y) :- c(Y,_), h(Y). n(N) :- N = count { X : b(X) }. g(a)."
    first, second = parts(text).parts
    assert first.makes == {("h", 1), ("k", 1)}
    assert second.makes == {("n", 1)}
    assert ("b", 1) in first.reads & second.reads
    assert first.unsplit is None
    assert second.unsplit is not None
    assert [
        one
        for one in first.program(horai.loads(text, language="lars").program).rules
        if not one.body
    ]


def test_a_plan_for_people_and_for_machines() -> None:
    found = parts("h(X) :- b(X), not c(X,_). k :- h(_).\nl(X) :- b(X) [2 #].")
    assert list(part_lines(parts_json(found))) == [
        "part 1 of 2, in one bucket",
        "  works out  h/1, k/0",
        "  signals    b/1, c/2",
        "  unsplit    k has no arguments to split by  [<rules>:1]",
        "",
        "part 2 of 2, in one bucket",
        "  works out  l/1",
        "  signals    all",
        "  unsplit    a window of the last signals counts those of all names  [<rules>:2]",
        "",
    ]
    (one,) = parts_json(parts("h(X) :- b(X)."))
    assert one == {
        "part": 1,
        "split": True,
        "makes": ["h/1"],
        "keys": {"b/1": 1, "h/1": 1},
        "signals": ["b/1"],
        "unsplit": None,
    }
