"""Terms: what each way of writing means."""

from __future__ import annotations

import pytest
from tests.lang.texts import read_term

from horai.lang.core.terms import Compound, Constant, Float, Int, ListTerm, Str, Term, Var, subterms


def term(text: str) -> Term:
    found, findings = read_term(text)
    assert not findings, findings[0].render()
    assert found is not None
    return found


def c(name: str, *args: Term) -> Compound:
    return Compound(name, args)


a, b, d, X = Constant("a"), Constant("b"), Constant("d"), Var("X")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", a),
        ("'New York'", Constant("New York")),
        ("'It''s'", Constant("It's")),
        (r"'It\'s\n\\\x41\'", Constant("It's\n\\A")),
        (r"'\u00e9\101\'", Constant("éA")),
        ("''", Constant("")),
        ("étage", Constant("étage")),
        ("X", X),
        ("_name", Var("_name")),
        ("_", Var("_#1")),
        ("Été", Var("Été")),
        ("12", Int(12)),
        ("1_000", Int(1000)),
        ("0x1F", Int(31)),
        ("0o17", Int(15)),
        ("0b101", Int(5)),
        ("0'a", Int(97)),
        ("0' ", Int(32)),
        ("0'''", Int(39)),
        (r"0'\n", Int(10)),
        ("-3", Int(-3)),
        ("-9223372036854775808", Int(-(2**63))),
        ("1.5", Float(1.5)),
        ("1.0e5", Float(1.0e5)),
        ("2.5E-3", Float(2.5e-3)),
        ("1e3", Float(1000.0)),
        ("-1.5", Float(-1.5)),
        ('"a string"', Str("a string")),
        ('"say ""hi"""', Str('say "hi"')),
        ("[]", ListTerm(())),
        ("[a, b]", ListTerm((a, b))),
        ("[a | X]", ListTerm((a,), X)),
        ("[a | [b]]", ListTerm((a, b))),
        ("[a | [b | X]]", ListTerm((a, b), X)),
        ("{}", Constant("{}")),
        ("{a}", c("{}", a)),
        ("f(a)", c("f", a)),
        ("'F G'(a)", c("F G", a)),
        ("f( a , b )", c("f", a, b)),
        ("f(a, /* in between */ b) % after", c("f", a, b)),
    ],
)
def test_constants_and_structures(text: str, expected: Term) -> None:
    assert term(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * X", c("+", Int(1), c("*", Int(2), X))),
        ("1 - 2 - X", c("-", c("-", Int(1), Int(2)), X)),
        ("a / b // d", c("//", c("/", a, b), d)),
        ("X mod 2 rem 3", c("rem", c("mod", X, Int(2)), Int(3))),
        ("2 ** 3 ** X", c("**", Int(2), c("**", Int(3), X))),
        ("2 ^ 3", c("^", Int(2), Int(3))),
        ("- X ^ 2", c("-", c("^", X, Int(2)))),
        ("-1 ^ 2", c("^", Int(-1), Int(2))),
        ("X - 1", c("-", X, Int(1))),
        ("X -1", c("-", X, Int(1))),
        ("X-1", c("-", X, Int(1))),
        ("X - -1", c("-", X, Int(-1))),
        ("X--1", c("-", X, Int(-1))),
        ("- 1", c("-", Int(1))),
        ("-(1)", c("-", Int(1))),
        ("-(1, 2)", c("-", Int(1), Int(2))),
        ("+ X", c("+", X)),
        ("- - X", c("-", c("-", X))),
        ("X = -1", c("=", X, Int(-1))),
        ("X=-1", c("=", X, Int(-1))),
        ("X<-1", c("<", X, Int(-1))),
        ("X is 3 mod 2", c("is", X, c("mod", Int(3), Int(2)))),
        ("=(X, a)", c("=", X, a)),
        ("mod(X, 2)", c("mod", X, Int(2))),
        ("X =:= 1", c("=:=", X, Int(1))),
        ("X =\\= 1", c("=\\=", X, Int(1))),
        ("X \\== a", c("\\==", X, a)),
        ("X \\= a", c("\\=", X, a)),
        ("X @=< a", c("@=<", X, a)),
        ("X @>= a", c("@>=", X, a)),
        ("a, b, d", c(",", a, c(",", b, d))),
        ("a ; b, d", c(";", a, c(",", b, d))),
        ("a -> b ; d", c(";", c("->", a, b), d)),
        ("\\+ a, b", c(",", c("\\+", a), b)),
        ("\\+ X = a", c("\\+", c("=", X, a))),
        ("not a", c("not", a)),
        ("not not a", c("not", c("not", a))),
        ("not(a)", c("not", a)),
        ("not (a ; b)", c("not", c(";", a, b))),
        ("\\+(a, b)", c("\\+", c(",", a, b))),
        ("f((a, b))", c("f", c(",", a, b))),
        ("f((a ; b), X)", c("f", c(";", a, b), X)),
        ("f(a ; b, X)", c("f", c(";", a, b), X)),
        ("f(a = b, \\+ d)", c("f", c("=", a, b), c("\\+", d))),
        ("(a, b), d", c(",", c(",", a, b), d)),
        ("2 * (3 + X)", c("*", Int(2), c("+", Int(3), X))),
    ],
)
def test_operators(text: str, expected: Term) -> None:
    assert term(text) == expected


@pytest.mark.parametrize("sign", ["-", "+", "*", "=", "<", "=<", "mod", "is", "\\+", "not", ";"])
def test_an_operator_alone_is_an_atom(sign: str) -> None:
    assert term(f"p({sign})") == c("p", Constant(sign))
    assert term(f"[a, {sign}]") == ListTerm((a, Constant(sign)))
    assert term(f"p({sign} , a)") == c("p", Constant(sign), a)
    assert term(f"({sign}) = a") == c("=", Constant(sign), a)


def test_each_anonymous_variable_is_its_own() -> None:
    names = [t.name for t in subterms(term("f(_, g(_), _)")) if isinstance(t, Var)]
    assert names == ["_#1", "_#2", "_#3"]


def test_spans_point_at_the_text() -> None:
    text = "f(a, 'b c') = (X + -12)"
    whole = term(text)
    assert whole.span == (0, len(text))
    found = {text[t.span[0] : t.span[1]] for t in subterms(whole) if t.span}
    assert found == {text, "f(a, 'b c')", "a", "'b c'", "(X + -12)", "X", "-12"}


def test_a_term_on_its_own_may_lack_the_full_stop() -> None:
    assert term("f(a).") == term("f(a)") == c("f", a)
