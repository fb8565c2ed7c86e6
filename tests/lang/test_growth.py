"""Twice the text takes no more than about twice the work, whatever the text: work is counted in
calls of functions, which are the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from horai.lang.core import diagnostics
from horai.lang.core.diagnostics import Diagnostic, has_errors
from horai.lang.core.source import SourceText
from horai.lang.ec.reader import read_text
from horai.lang.lars.printer import show_program
from horai.lang.lars.reader import read_text as read_program
from horai.lang.translate.languages import translated
from horai.rules import all_findings


class _TooMuch(Exception):
    pass


def calls(work: Callable[[], object], most: int) -> int:
    """How many functions are called; more than `most` raise an error."""
    found = 0

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal found
        found += event == "call"
        if found > most:
            sys.setprofile(None)
            raise _TooMuch

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return found


def check_events(text: str) -> list[str]:
    description, read = read_text(text)
    return _rendered(all_findings(description, read, {}))


def check_program(text: str) -> list[str]:
    program, findings = read_program(text)
    show_program(program)
    return _rendered(findings)


def check_formulas(text: str) -> list[str]:
    return _rendered(translated(SourceText("text", text), "ltl")[1])


def check_queries(text: str) -> list[str]:
    return _rendered(translated(SourceText("text", text), "cql")[1])


def _rendered(findings: list[Diagnostic]) -> list[str]:
    return [finding.render() for finding in findings]


def _event(body: str) -> str:
    return f"initiatedAt(f(X)=true, T) :- happensAt(e(X), T){body}."


_NESTED: dict[str, Callable[[int], str]] = {
    "dashes": lambda n: f"{'-' * n}a.",
    "signs": lambda n: f"p(X) :- q(Y), X is {'- ' * n}Y.",
    "pluses": lambda n: f"p(X) :- q(Y), X is {'+ ' * n}Y.",
    "brackets": lambda n: f"p(X) :- q(X), {'(' * n}r(X){')' * n}.",
    "open brackets": lambda n: f"p(X) :- q(X), {'(' * n}r(X).",
    "lists": lambda n: f"p({'[' * n}{']' * n}).",
    "negations": lambda n: _event(", \\+ (q(X)" * n + ")" * n),
    "double negations": lambda n: _event(", " + "\\+ " * n + "q(X)"),
    "alternatives": lambda n: _event(", (r(X) ; q(X)" * n + ")" * n),
    "alternatives that wait": lambda n: _event(
        "".join(f", w{i}(B{i}), (q(X) ; B{i} > 3" for i in range(n)) + ")" * n
    ),
    "conditions that wait": lambda n: _event(
        "".join(f", w{i}(B{i}), (q(X) -> B{i} > 3 ; r(X)" for i in range(n)) + ")" * n
    ),
    "lists of all": lambda n: _event(
        "".join(f", findall(C{i}, (q(X, C{i})" for i in range(n))
        + "".join(f"), L{i})" for i in reversed(range(n)))
    ),
}


@pytest.mark.parametrize("kind", _NESTED)
def test_what_is_nested_is_looked_at_once(kind: str) -> None:
    text = _NESTED[kind]
    check_events(text(3))  # what is loaded and kept once does not count
    once = calls(lambda: check_events(text(15)), 1_000_000)
    assert calls(lambda: check_events(text(30)), 8 * once) > 0


@pytest.mark.parametrize("check", [check_events, check_program])
@pytest.mark.parametrize("line", ["a\n", "go_to|9|9|chris|pub\n", ". "])
def test_a_table_taken_for_rules_is_given_up(
    monkeypatch: pytest.MonkeyPatch, check: Callable[[str], list[str]], line: str
) -> None:
    monkeypatch.setattr(diagnostics, "MOST_ERRORS", 200)
    check(line * 3)
    once = calls(lambda: check(line * 2 * 200), 10_000_000)
    assert calls(lambda: check(line * 8 * 200), 5 * once) > 0
    findings = check(line * 2 * 200)
    assert sum("the rest of the text was not read" in finding for finding in findings) == 1


def test_a_long_line_is_shown_in_part() -> None:
    (finding,) = [f for f in check_events("p(a)." + " " * 5_000 + "p(]).") if "p(])" in f]
    shown, marks = finding.split("\n")[3:5]
    assert len(shown) < 250 and shown.index("]") == marks.index("^")


def test_definitions_that_double_each_other_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("horai.lang.translate.ltl._MOST_PARTS", 2_000)

    def text(n: int) -> str:
        return "".join(f"a{i} := a{i + 1} and once a{i + 1}.\n" for i in range(n))

    assert check_formulas(text(5)) == []
    calls(lambda: check_formulas(text(40)), 2_000_000)
    assert "too large with all definitions" in check_formulas(text(40))[0]


def test_a_chain_of_definitions_is_refused_in_words() -> None:
    chain = "".join(f"a{i} := not a{i + 1}.\n" for i in range(1_500))
    assert "too large with all definitions" in check_formulas(chain)[0]


def test_a_condition_nested_too_deeply_is_refused_in_words() -> None:
    query = f"SELECT a FROM s [RANGE 5] WHERE {'NOT ' * 1_200} a > 1;"
    assert "nested too deeply" in check_queries(f"CREATE STREAM s(a); {query}")[0]


@pytest.mark.parametrize("language", ["ltl", "etalis", "cql"])
def test_a_number_of_many_digits_is_refused_in_words(language: str) -> None:
    number = "9" * 5_000
    text = {
        "ltl": f"a := once[0,{number}] b.",
        "etalis": f"a <- b({number}).",
        "cql": f"SELECT a FROM s [RANGE 5] WHERE a > {number};",
    }[language]
    findings = translated(SourceText("text", text), language)[1]
    assert has_errors(findings) and "number is too large" in findings[0].message


def test_windows_behind_each_other_are_refused_in_words() -> None:
    assert check_program(f"h :- a {'[3] ' * 20}.") == []
    assert "too many windows" in check_program(f"h :- a {'[3] ' * 400}.")[0]
