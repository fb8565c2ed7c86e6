"""What people get wrong, and what they are told."""

from __future__ import annotations

import pytest

from horai.lang.lars.reader import read_text


def told(text: str) -> list[tuple[str, int, int, str]]:
    """Code, line, column and the text pointed at, for everything that is wrong."""
    found = []
    for finding in read_text(text, "p.lars")[1]:
        shown = finding.as_json()
        found.append((finding.code, shown["line"], shown["column"], shown["text"]))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h :- b\ng :- c.", ("H002", 1, 7, "")),
        ("h :- b [2 s\ng :- c.", ("H003", 1, 8, "[")),
        ("h :- b] .", ("H004", 1, 7, "]")),
        ("h :- b c.", ("H005", 1, 7, "")),
        ("h :- b [3 s] c.", ("H005", 1, 13, "")),
        ("h <- b.", ("H006", 1, 3, "<-")),
        ("h :- b && c.", ("H007", 1, 8, "&&")),
        ("h :- ¬ b.", ("H007", 1, 6, "¬")),
        ("h :- b(X), X ≤ 3.", ("H007", 1, 14, "≤")),
        ("h :- b('x).", ("H008", 1, 8, "'x).")),
        ("h. /* never", ("H009", 1, 4, "/*")),
        ("h :- b, .", ("H011", 1, 7, ",")),
        ("H(X) :- b(X).", ("H012", 1, 1, "H")),
        ("h :- 3 < X < 5.", ("H016", 1, 12, "<")),
        ("h :- b [3 seconbs].", ("H602", 1, 11, "seconbs")),
        ("h :- b [0.5 s].", ("H603", 1, 9, "0.5")),
        ("h :- b [N s].", ("H603", 1, 9, "N")),
        ("h :- b [].", ("H603", 1, 8, "[]")),
        ("h :- b [3 s, 4 s].", ("H603", 1, 8, "[3 s, 4 s]")),
        ("h :- b [3 s, +4 #].", ("H603", 1, 8, "[3 s, +4 #]")),
        ("h :- b [from 3].", ("H603", 1, 8, "[from 3]")),
        ("h :- b [only 3].", ("H603", 1, 14, "3")),
        ("h :- b [3 s hop 0 s].", ("H604", 1, 8, "[3 s hop 0 s]")),
        ("h :- b [since 0 s].", ("H604", 1, 8, "[since 0 s]")),
        ("h :- b [since inf].", ("H604", 1, 8, "[since inf]")),
        ("h :- b [+3 s tumbling].", ("H604", 1, 8, "[+3 s tumbling]")),
        ("h :- [3 s] b, reset always c.", ("H609", 1, 21, "always c")),
        ("h :- [3 s] reset always c.", ("H609", 1, 18, "always c")),
        ("h :- [only c] always c.", ("H609", 1, 15, "always c")),
        ("42 :- b.", ("H606", 1, 1, "42")),
        ("true :- b.", ("H606", 1, 1, "true")),
        ("{ } :- b.", ("H608", 1, 1, "{ }")),
        ("{ a } < 2 :- b.", ("H608", 1, 1, "{ a } < 2")),
        ("{ not a } :- b.", ("H608", 1, 3, "not a")),
        ("h(1..3) :- b.", ("H607", 1, 1, "h(1..3)")),
        ("h(1..X).", ("H607", 1, 3, "1..X")),
        ("h :- {a} .", ("H600", 1, 6, "{a}")),
        ("h :- count { X : b(X) }.", ("H600", 1, 6, "count { X : b(X) }")),
    ],
)
def test_one_mistake(text: str, expected: tuple[str, int, int, str]) -> None:
    assert told(text) == [expected]


def test_all_mistakes_are_told_at_once_and_good_rules_are_kept() -> None:
    text = "a :- b [3 parsec].\nc :- d.\ne :- always f.\ng :- h,.\n"
    assert [(code, line) for code, line, _, _ in told(text)] == [
        ("H602", 1),
        ("H609", 3),
        ("H011", 4),
    ]
    assert len(read_text(text)[0].rules) == 3


def test_a_message_names_the_place_and_the_remedy() -> None:
    (finding,) = read_text("h :- b [3 seconbs].", "p.lars")[1]
    assert finding.render() == (
        "error[H602]: `seconbs` is no unit of time\n"
        " --> p.lars:1:11\n"
        "  |\n"
        "1 | h :- b [3 seconbs].\n"
        "  |           ^^^^^^^\n"
        "  = help: did you mean `seconds`?"
    )


def test_deep_nesting_is_refused() -> None:
    assert [finding[0] for finding in told(f"h :- {'(' * 300}b{')' * 300}.")] == ["H017"]


@pytest.mark.parametrize("text", ["h :- b in 5.", "h :- b in window.", "h :- @T in 5 b."])
def test_a_window_without_brackets_is_shown_with_them(text: str) -> None:
    [finding] = read_text(text, "p.lars")[1]
    assert finding.code == "H001"
    assert finding.hint is not None and "`a(X) [5 s]`" in finding.hint


def test_what_is_expected_has_a_name() -> None:
    [finding] = read_text("h :- a always b.", "p.lars")[1]
    assert finding.message == "`b` cannot stand here; expected a window such as `[5 s]`"


@pytest.mark.parametrize("text", ["g :- always a [1 #, +1 #].", "g :- always a [only a]."])
def test_always_is_about_a_window_that_ends(text: str) -> None:
    [finding] = read_text(text, "p.lars")[1]
    assert (finding.code, finding.message) == (
        "H609",
        "`always` is about a window without a last point",
    )


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("h :- a(X), 3 < X < 5.", "... < X, X < ..."),
        (
            "h :- 1 < count { X : b(X, Y) } <= 5.",
            "... < count { X : b(X, Y) }, count { X : b(X, Y) } <= ...",
        ),
        ("h :- a(X), X - 1 = (X + 1) * 2 = 4.", "... = (X + 1) * 2, (X + 1) * 2 = ..."),
    ],
)
def test_both_conditions_of_a_chained_comparison_are_shown(text: str, conditions: str) -> None:
    (finding,) = read_text(text)[1]
    assert finding.code == "H016"
    assert finding.hint == f"write two conditions: `{conditions}`"
