"""Relations that are written like atoms, as programs for Ticker write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

import horai
from horai.lang.lars.clock import Clock
from horai.lang.lars.predicates import RELATIONS
from horai.lang.lars.printer import show, show_program
from horai.lang.lars.reader import read_text
from horai.plan.lars.check import check

MEDIA = """
high at T :- value(V), alpha(V) at T [3 sec], leq(18,V).
mid at T :- value(V), alpha(V) at T [3 sec], leq(12,V), lt(V,18).
low at T :- value(V), alpha(V) at T [3 sec], lt(V,12).
lfu :- high always [3 sec].
lru :- mid always [3 sec].
fifo :- low always [3 sec].
done :- lfu. done :- lru. done :- fifo.
random :- not done.
value(5). value(15). value(25).
"""
FORMS = {
    "eq": "X = Y",
    "neq": "X != Y",
    "lt": "X < Y",
    "leq": "X <= Y",
    "gt": "X > Y",
    "geq": "X >= Y",
    "incr": "Y = X + 1",
    "ltlt": "X < Y, Y < Z",
    "ltleq": "X < Y, Y <= Z",
    "leqlt": "X <= Y, Y < Z",
    "leqleq": "X <= Y, Y <= Z",
    "plus": "Z = X + Y",
    "sum": "Z = X + Y",
    "minus": "Z = X - Y",
    "times": "Z = X * Y",
    "product": "Z = X * Y",
    "divide": "Z = X / Y",
    "power": "Z = X ^ Y",
    "modulo": "Z = X mod Y",
}


@pytest.mark.parametrize("engine", ["plan", "asp", "tms", "reference"])
@pytest.mark.parametrize(("value", "found"), [(25, "lfu"), (15, "lru"), (5, "fifo")])
def test_a_program_as_published(engine: str, value: int, found: str) -> None:
    stream = [f"alpha|{time}|{time}|{value}" for time in range(5)]
    answers = (
        horai.loads(MEDIA, language="lars")
        .run(stream, engine=engine, filter="lfu,lru,fifo,random")
        .answers
    )
    assert [answer.texts() for answer in answers] == [[found]] * 5


def test_every_relation_has_a_form() -> None:
    assert set(FORMS) == {name for name, _ in RELATIONS}


def body(text: str) -> str:
    """The body of the last rule of a program."""
    return ", ".join(show(part) for part in read_text(text)[0].rules[-1].body)


@pytest.mark.parametrize(("name", "arity"), sorted(RELATIONS))
def test_relations_and_their_signs(name: str, arity: int) -> None:
    args = ",".join("XYZ"[:arity])
    assert (
        body(f"h :- a({args}), {name}({args}).")
        == f"a({', '.join(args.split(','))}), " + (FORMS[name])
    )
    assert body(f"h :- a({args}), {name}({args}), b.").endswith(f"{FORMS[name]}, b")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("h :- a(X,Y), not lt(X,Y).", "a(X, Y), not X < Y"),
        ("h :- a(X,Y), (lt(X,Y) ; gt(X,Y)).", "a(X, Y), (X < Y ; X > Y)"),
        (
            "h :- count { X : a(X,Y), leqlt(1,X,Y) } > 2.",
            "count { X : a(X, Y), 1 <= X, X < Y } > 2",
        ),
        ("lt(1,2). h :- a(X,Y), lt(X,Y).", "a(X, Y), lt(X, Y)"),
        ("lt(X,Y) :- b(X,Y). h :- a(X,Y), lt(X,Y).", "a(X, Y), lt(X, Y)"),
        ("h :- a(X,Y), lt(X,Y) [3].", "a(X, Y), lt(X, Y) [3]"),
        ("h :- a(X,Y), @T lt(X,Y).", "a(X, Y), @T lt(X, Y)"),
        ("g :- lt(X,Y) [3]. h :- a(X,Y), lt(X,Y).", "a(X, Y), lt(X, Y)"),
        ("h :- a(X), lt(X).", "a(X), lt(X)"),
        ("h :- a(X), plus(X,2).", "a(X), plus(X, 2)"),
    ],
)
def test_where_an_atom_is_a_relation(text: str, found: str) -> None:
    assert body(text) == found


def test_options_of_choices() -> None:
    program = read_text("{ h(X) : a(X), geq(X,2) }.")[0]
    assert show_program(program) == "{ h(X) : a(X), X >= 2 }.\n"


def test_doubt_is_told() -> None:
    text = "g :- lt(X,Y) [4 s]. h :- a(X,Y), lt(X,Y)."
    (finding,) = check(read_text(text)[0], Clock.parse("1s"))
    assert (finding.code, finding.hint) == ("H710", "if numbers are to be compared, write `X < Y`")
    assert finding.span is not None
    assert text[slice(*finding.span)] == "lt(X,Y)"
    assert not check(read_text(MEDIA)[0], Clock.parse("1s"))


def test_questions_are_about_atoms() -> None:
    result = horai.loads("lt(X,Y) :- a(X,Y).", language="lars").run(["a|1|1|5|3"])
    assert result.query("lt(X,Y)") == [{"X": 5, "Y": 3}]


@examples("normal")
@given(st.sampled_from(sorted(RELATIONS)), st.lists(st.integers(-3, 4), min_size=3, max_size=3))
def test_names_and_signs_say_the_same(named: tuple[str, int], values: list[int]) -> None:
    name, arity = named
    args = ",".join("XYZ"[:arity])
    row = ["a|1|1|" + "|".join(map(str, values[:arity]))]
    for condition, sign in ((f"{name}({args})", FORMS[name]), (f"not {name}({args})", None)):
        found = horai.loads(f"h :- a({args}), {condition}.", language="lars").run(
            row, engine="reference"
        )
        negated = f"not ({FORMS[name]})" if sign is None else sign
        wanted = horai.loads(f"h :- a({args}), {negated}.", language="lars").run(
            row, engine="reference"
        )
        assert found.answers == wanted.answers
