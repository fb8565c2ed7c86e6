"""Layout: what is put right, what stays, and that rules say the same afterwards."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

from horai.lang.layout import SCANNERS, Language, formatted, spelled

ROOT = Path(__file__).parent.parent.parent
FILES = sorted(
    path
    for folder in ("examples", "tests/plan")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".ec", ".prolog", ".lars")
)


def language_of(path: Path) -> Language:
    return "lars" if path.suffix == ".lars" else "ec"


def test_examples_keep_what_they_say() -> None:
    assert len(FILES) > 15
    for path in FILES:
        text, language = path.read_text(encoding="utf-8"), language_of(path)
        once = formatted(text, language)
        assert spelled(once, language) == spelled(text, language), path
        assert formatted(once, language) == once, path
        assert max(map(len, once.splitlines())) <= 120, path


def scattered(text: str, language: Language, random: Random) -> str:
    """The text with other blanks, line breaks and comments between its tokens."""
    scanner = SCANNERS[language]
    out, at = "", scanner.skip(text, 0)
    while at < len(text):
        tokens, end = scanner.clause(text, at)
        last = tokens[0].start_pos or 0
        for token in tokens:
            start = token.start_pos or 0
            if start > last:  # where there was nothing, a blank may change what is read
                out += random.choice([" ", "  ", "\n", "\n\n\n", " % why\n", " /* so */ "])
            out += text[start : token.end_pos]
            last = token.end_pos or 0
        out += random.choice(["\n", " ", "\n\n\n", " % beside\n", "\n% below\n"])
        at = scanner.skip(text, end)
    return out


@examples("normal")
@given(path=st.sampled_from(FILES), seed=st.integers(0, 2**32))
def test_any_layout_is_put_right(path: Path, seed: int) -> None:
    language = language_of(path)
    text = scattered(path.read_text(encoding="utf-8")[:3000], language, Random(seed))
    once = formatted(text, language)
    assert spelled(once, language) == spelled(text, language)
    assert formatted(once, language) == once


def test_blanks_and_indentation() -> None:
    text = "a(X):-\n  b( X ,Y ),\n\t\\+c(Y),Y>1 , Z is X+ 1.   % why\n\n\n\nd(1,  2).   e(3)."
    assert formatted(text) == (
        "a(X) :-\n    b(X, Y),\n    \\+c(Y), Y > 1, Z is X + 1.  % why\n\nd(1, 2). e(3).\n"
    )


def test_long_lines_are_broken_at_conditions_then_inside_brackets() -> None:
    names = ", ".join(f"argument{i}" for i in range(12))
    text = f"a(X) :- b(X), c({names})."
    assert formatted(text).splitlines()[:3] == ["a(X) :-", "    b(X),", "    c("]
    assert all(len(line) <= 100 for line in formatted(text).splitlines())


def test_alternatives_stand_below_each_other() -> None:
    text = "a(X) :-\n (b(X),\n c(X)\n;d(X)->e(X)\n;f(X)), g(X), i(X)."
    assert formatted(text).splitlines()[1:5] == [
        "    (   b(X),",
        "        c(X)",
        "    ;   d(X)",
        "    ->  e(X)",
    ]


def test_comments_stay_where_they_are() -> None:
    text = "% above\na(X) :- % of all\n  % first\n  b(X), % one\n  c(X).\n% below\n"
    assert formatted(text) == (
        "% above\na(X) :-  % of all\n    % first\n    b(X),  % one\n    c(X).\n% below\n"
    )


def test_a_clause_with_a_comment_where_no_line_can_end_stays_as_it_is() -> None:
    text = "a(X) :- b(X\n  % odd\n  =1).\n"
    assert formatted(text) == text


def test_windows_of_programs() -> None:
    text = "@T h(X):-b(X)[3 s],not c [2 #],X % 2=0,always d[5].\n{a;b}:-c."
    shown = formatted(text, "lars")
    assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", text)
    assert shown.startswith("@T h(X) :- b(X)")
