"""Wrong texts: the code, the place, the underlined text and the way out, for each usual mistake."""

from __future__ import annotations

import pytest
from tests.lang.texts import show_clause, show_description

from horai.lang.core.diagnostics import Diagnostic
from horai.lang.core.reader import read_clauses
from horai.lang.core.source import SourceText
from horai.lang.ec.reader import read_text

# text, code, line, column, underlined text, a part of the hint
MISTAKES: list[tuple[str, str, int, int, str, str]] = [
    # full stops
    ("p(a)\nq(b).", "H002", 1, 5, "", "write `.` before `q` of line 2"),
    ("p(a).\nq(b)", "H002", 2, 5, "", "end every clause"),
    ("p :- a,\nq :- b.", "H002", 1, 7, ",", "write `.` before `q` of line 2"),
    ("  p :- a\n  q :- b.", "H002", 1, 9, "", "write `.`"),
    ("p :- a\n    q(X) :- b.", "H002", 1, 7, "", "write `.`"),
    ("p(a)..", "H013", 1, 5, "..", "single"),
    ("p(a). .", "H013", 1, 7, ".", "remove"),
    ("p(a).q(b).", "H013", 1, 5, ".", "blank"),
    ("p(.5).", "H013", 1, 3, ".", "`0.5`"),
    ("p(1.).", "H013", 1, 4, ".", "digits on both sides"),
    ("p(a.b).", "H013", 1, 4, ".", "'a.b'"),
    # brackets
    ("p :- q(a, r(b).", "H003", 1, 6, "q(", "add `)` before the full stop"),
    ("p(a, b :- q.", "H003", 1, 1, "p(", "add `)` before `:-`"),
    ("p :- q(a\nr :- b.", "H003", 1, 6, "q(", "end of line 1"),
    ("p([a, b).", "H004", 1, 8, ")", "write `]` first"),
    ("p :- q(a)).", "H004", 1, 10, ")", "remove it"),
    ("p :- (a ; b.", "H003", 1, 6, "(", "add `)`"),
    ("p :- a].", "H004", 1, 7, "]", "`[`"),
    # commas
    ("p :- a(X) b(X).", "H005", 1, 10, "", "write `,` before `b`"),
    ("p :- a(X)\n    \\+ b(X).", "H005", 1, 10, "", "write `,` before `\\+`"),
    ("p(New York).", "H005", 1, 6, "", "'New York'"),
    ("p(a) b.", "H005", 1, 5, "", "`:-` before conditions"),
    ("p :- a, b,.", "H011", 1, 10, ",", "remove the comma"),
    ("p :- a,, b.", "H022", 1, 8, ",", "remove the comma"),
    ("p(a, ).", "H022", 1, 4, ",", "remove the comma"),
    ("p([a, ]).", "H022", 1, 5, ",", "remove the comma"),
    ("p(, a).", "H022", 1, 3, ",", "remove the comma"),
    ("p :- , a.", "H022", 1, 6, ",", "remove the comma"),
    ("p().", "H022", 1, 2, "()", "write `p`"),
    # heads and bodies
    ("p(X) <- q(X).", "H006", 1, 6, "<-", "write `:-`"),
    ("p(X) : q(X).", "H006", 1, 6, ":", "write `:-`"),
    ("p(X) : - q(X).", "H006", 1, 6, ": -", "write `:-`"),
    ("p(X) =: q(X).", "H006", 1, 6, "=:", "write `:-`"),
    ("p(X) --> q(X).", "H006", 1, 6, "-->", "write `:-`"),
    ("p(X) <= q(X).", "H006", 1, 6, "<=", "write `:-`"),
    ("q(X) => p(X).", "H006", 1, 6, "=>", "head :- conditions"),
    ("p(X) if q(X).", "H007", 1, 6, "if", "write `:-`"),
    ("p :- .", "H010", 1, 3, ":-", "leave `:-` out"),
    (":- .", "H010", 1, 1, ":-", "leave `:-` out"),
    ("p :- a :- b.", "H021", 1, 8, ":-", "full stop"),
    ("p :- (a :- b).", "H021", 1, 9, ":-", "brackets"),
    # signs
    ("p :- X != Y.", "H007", 1, 8, "!=", "`\\=`"),
    ("p :- X <> Y.", "H007", 1, 8, "<>", "`\\=`"),
    ("p :- X <= Y.", "H007", 1, 8, "<=", "`=<`"),
    ("p :- X => Y.", "H007", 1, 8, "=>", "`>=`"),
    ("p :- X ≤ Y.", "H007", 1, 8, "≤", "`=<`"),
    ("p :- X === Y.", "H007", 1, 8, "===", "`==`"),
    ("p :- X := 3.", "H007", 1, 8, ":=", "X is ..."),
    ("p :- X = < 3.", "H007", 1, 8, "= <", "`=<`"),
    ("p :- a && b.", "H007", 1, 8, "&&", "`,`"),
    ("p :- a & b.", "H007", 1, 8, "&", "`,`"),
    ("p :- a || b.", "H007", 1, 8, "||", "`;`"),
    ("p :- a | b.", "H007", 1, 8, "|", "`;`"),
    ("p :- a and b.", "H007", 1, 8, "and", "`,`"),
    ("p :- a or b.", "H007", 1, 8, "or", "`;`"),
    ("p :- a, ~ b.", "H007", 1, 9, "~", "`\\+`"),
    ("p :- X =.. L.", "H007", 1, 8, "=..", "quotes"),
    ("p :- lists:member(X, L).", "H007", 1, 11, ":", "quotes"),
    ("?- p(X).", "H007", 1, 1, "?-", "no queries"),
    ("p(a@b).", "H007", 1, 4, "@", "quotes"),
    ("p :- a = b = c.", "H016", 1, 12, "=", "two conditions"),
    ("p :- 0 < X < 9.", "H016", 1, 12, "<", "X < ..."),
    ("p :- X > .", "H024", 1, 8, ">", "what `>` applies to"),
    ("p :- X + > 3.", "H024", 1, 10, ">", "what `>` applies to"),
    ("p :- = 3.", "H024", 1, 6, "=", "what `=` applies to"),
    ("p :- \\+ .", "H024", 1, 6, "\\+", "what `\\+` applies to"),
    ("p :- (a ; ).", "H024", 1, 9, ";", "what `;` applies to"),
    ("p :- X = \\+ a.", "H001", 1, 10, "\\+", "parentheses"),
    # names, quotes, numbers, characters
    ("p :- Foo(a).", "H012", 1, 6, "Foo", "`foo`"),
    ("HoldsFor(a=b, I) :- c.", "H012", 1, 1, "HoldsFor", "`holdsFor`"),
    ("p (a).", "H020", 1, 1, "p (", "write `p(`"),
    ("p(4ca1fa).", "H023", 1, 3, "4ca1fa", "'4ca1fa'"),
    ("p('New York).\nq(a).", "H008", 1, 3, "'New York).", "closing '"),
    ("p(john's).\nq(a).", "H008", 1, 7, "'s).", "apostrophe"),
    ('p("open).\nq(a).', "H008", 1, 3, '"open).', 'closing "'),
    ("/* p(a).\nq(b).", "H009", 1, 1, "/*", "add `*/`"),
    ("p(a). */", "H009", 1, 7, "*/", "starts with `/*`"),
    ("p(§).", "H014", 1, 3, "§", "quotes"),
    ("p(a).\n\0q(b).", "H014", 2, 1, "\0", "remove"),
    ("p(‘a’).", "H014", 1, 3, "‘", "plain quote"),
    ("p(`a`).", "H014", 1, 3, "`", "around atoms"),
    ("p(a\u200b).", "H014", 1, 4, "\u200b", "remove"),
    ("p(99999999999999999999).", "H018", 1, 3, "99999999999999999999", "between"),
    ("p(1.0e999).", "H018", 1, 3, "1.0e999", "`inf`"),
    (f"p({'9' * 5000}).", "H018", 1, 3, "9" * 5000, "between"),
    ("p('c:\\data').", "H019", 1, 6, "\\d", "`\\\\`"),
    ("p('\\xd800\\').", "H019", 1, 4, "\\xd800\\", "escapes"),
    ("p(" + "f(" * 200 + "a" + ")" * 200 + ").", "H017", 1, 202, "(", "rules of their own"),
    ("p(" + "- " * 200 + "a).", "H017", 1, 1, "p(" + "- " * 200 + "a).", "rules of their own"),
    ("p(" + "1+" * 5000 + "1).", "H017", 1, 1, "p(" + "1+" * 5000 + "1).", "rules of their own"),
    ("p :- " + "a, " * 300 + "a.", "H017", 1, 1, "p :- " + "a, " * 300 + "a.", "rules of"),
    # directives
    (":- initialization(main).", "H025", 1, 1, ":- initialization(main).", "remove it"),
    (":- initialization main.", "H025", 1, 1, ":- initialization main.", "remove it"),
    (":- garbage_collect.", "H026", 1, 1, ":- garbage_collect.", "remove it"),
    (":- ['a.pl', b].", "H027", 1, 1, ":- ['a.pl', b].", "a.pl, b"),
    (":- consult('a.pl').", "H027", 1, 1, ":- consult('a.pl').", "a.pl"),
    (":- include(b).", "H027", 1, 1, ":- include(b).", "pass b"),
]


def syntax(text: str) -> list[Diagnostic]:
    return read_clauses(SourceText("t", text))[2]


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "under", "hint"), MISTAKES, ids=lambda v: str(v)[:25]
)
def test_mistake(text: str, code: str, line: int, column: int, under: str, hint: str) -> None:
    findings = syntax(text)
    assert [finding.code for finding in findings] == [code], [f.render() for f in findings]
    finding = findings[0]
    assert finding.position == (line, column)
    assert finding.span is not None
    assert text[slice(*finding.span)] == under
    assert finding.hint is not None
    assert hint in finding.hint


def test_a_number_that_is_too_large_is_wrong_for_no_other_reason() -> None:
    rule = "initiatedAt(f=a, T) :- happensAt(e, T).\nft(f=a, 99999999999999999999999).\n"
    assert [finding.code for finding in read_text(rule)[1]] == ["H018"]


def test_there_are_many() -> None:
    assert len(MISTAKES) > 45


def test_the_picture() -> None:
    text = "initiatedAt(rich(X)=true, T) :-\n    happensAt(win_lottery(X), T)\n    vip(X).\n"
    (finding,) = read_text(text, "toy.ec")[1]
    assert finding.render() == (
        "error[H005]: a comma is missing between two conditions\n"
        " --> toy.ec:2:33\n"
        "  |\n"
        "2 |     happensAt(win_lottery(X), T)\n"
        "  |                                 ^\n"
        "  = help: write `,` before `vip`"
    )


def test_a_tab_keeps_the_caret_in_place() -> None:
    (finding,) = syntax("p :-\n\tq(X),\n\tX != 3.")
    assert finding.render().splitlines()[3:5] == ["3 |  X != 3.", "  |    ^^"]


def test_expected_in_words() -> None:
    (finding,) = syntax("p :- X = \\+ a.")
    assert finding.message == "`\\+` cannot stand here; expected a term"


def test_a_bad_clause_spoils_no_other() -> None:
    text = (
        "p(a) :- q(a).\n"
        "p(b) :- q(b))).\n"
        "p(c) :- q(c).\n"
        "p(d) : q(d).\n"
        "p('e) :- q(e).\n"
        "p(f) :- q(f)\n"
        "p(g) :- q(g) r(g), X != 3.\n"
        "p(h) :- q(h).\n"
    )
    clauses, _, findings = read_clauses(SourceText("t", text))
    heads = [show_clause(clause).split(" ")[0] for clause in clauses]
    assert heads == ["p(a)", "p(c)", "p(d)", "p(f)", "p(g)", "p(h)"]
    found = [(finding.code, finding.position[0]) for finding in findings]
    assert found == [("H004", 2), ("H006", 4), ("H008", 5), ("H002", 6), ("H005", 7), ("H007", 7)]


def test_several_wrong_signs_are_all_reported() -> None:
    findings = syntax("p :- X != 3, Y <= 4, a && b.")
    assert [finding.code for finding in findings] == ["H007", "H007", "H007"]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("p :- a b.", "p :- a, b."),
        ("p :- X <= 3.", "p :- X =< 3."),
        ("p <- a.", "p :- a."),
        ("p :- a, b,.", "p :- a, b."),
        ("p :- q(a.", "p :- q(a)."),
        ("p :- Foo(a).", "p :- foo(a)."),
        ("p (X) :- a.", "p(X) :- a."),
        ("p :- a or b.", "p :- a ; b."),
    ],
)
def test_plain_mistakes_are_mended_so_that_nothing_else_is_reported(wrong: str, right: str) -> None:
    (mended,), _, findings = read_clauses(SourceText("t", wrong))
    (clause,), _, _ = read_clauses(SourceText("t", right))
    assert len(findings) == 1
    assert (mended.head, mended.body) == (clause.head, clause.body)


def test_a_file_without_any_full_stop_is_read_in_reasonable_time() -> None:
    text = "".join(f"p(a{i}, b) :- q(a{i})\n" for i in range(2000))
    clauses, _, findings = read_clauses(SourceText("t", text))
    assert len(clauses) == len(findings) == 2000


@pytest.mark.parametrize(
    "text",
    [
        "p :- " + ", ".join(f"a{i}" for i in range(190)) + ".",
        "p :- (" + " ; ".join(f"a{i}" for i in range(190)) + ").",
        "p :- (" + " ; ".join(f"a{i} -> b" for i in range(190)) + " ; c).",
        "p(" + "f(" * 95 + "a" + ")" * 95 + ") :- q.",
        "p :- " + "\\+ (a, " * 45 + "b" + ")" * 45 + ".",
    ],
    ids=["conditions", "alternatives", "else-ifs", "terms", "negations"],
)
def test_what_is_just_deep_enough_works_everywhere(text: str) -> None:
    description, findings = read_text(text)
    assert findings == []
    (rule,) = description.rules
    again, findings = read_text(show_description(description))
    assert findings == []
    assert again.rules[0].clause.body == rule.clause.body
    assert again.rules[0].clause.head == rule.clause.head
    hash(rule.clause.body)


def test_long_lists_are_fine() -> None:
    text = "p([" + ", ".join(str(i) for i in range(5000)) + "])."
    assert syntax(text) == []
