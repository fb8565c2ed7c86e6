"""Colours: the Pygments lexers, and the TextMate grammars of the VS Code folder."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pygments.lexers import get_lexer_by_name
from pygments.token import Token
from scripts.make_grammars import FOLDER, GRAMMARS, text_of

from horai.tools.pygments_lexer import HoraiLexer, LarsLexer

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.mark.parametrize("name", GRAMMARS)
def test_grammar_files_have_the_words_of_the_language(name: str) -> None:
    path = FOLDER / f"{name}.tmLanguage.json"
    assert path.read_text(encoding="utf-8") == text_of(name), "run scripts/make_grammars.py"
    for pattern in json.loads(text_of(name))["patterns"]:
        for key in ("match", "begin", "end"):
            re.compile(pattern.get(key, ""))


def test_the_extension_names_files_that_are_there() -> None:
    folder = FOLDER.parent
    about = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    named = [about["main"]]
    named += [one["path"] for one in about["contributes"]["grammars"]]
    named += [one["configuration"] for one in about["contributes"]["languages"]]
    assert [name for name in named if not (folder / name).is_file()] == []


def test_lexers_read_all_examples() -> None:
    for path in EXAMPLES.rglob("*"):
        lexer = {".ec": HoraiLexer, ".prolog": HoraiLexer, ".lars": LarsLexer}.get(path.suffix)
        if lexer is not None:
            text = path.read_text(encoding="utf-8")
            tokens = list(lexer().get_tokens(text))
            assert [value for kind, value in tokens if kind is Token.Error] == [], path
            assert "".join(value for _, value in tokens) == text.strip("\n") + "\n"


def test_lexers_tell_kinds_apart() -> None:
    found = {
        value: str(kind)
        for kind, value in HoraiLexer().get_tokens("initiatedAt(on(X)=true, T) :- q(X, 'A'). % c")
    }
    assert found["initiatedAt"] == "Token.Keyword.Declaration"
    assert found["on"] == "Token.Name.Function"
    assert found["X"] == "Token.Name.Variable"
    assert found["% c"] == "Token.Comment.Single"


def test_lexers_are_known_to_pygments_by_name() -> None:
    assert get_lexer_by_name("horai").name == "Horai"
    assert get_lexer_by_name("lars").name == "Horai LARS"
