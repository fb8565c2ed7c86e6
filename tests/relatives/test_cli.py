"""`horai translate` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from horai.cli.app import app


def run(*words: str, given: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["translate", *words], input=given)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize(
    ("language", "text", "program"),
    [
        ("ltl", "once[0,5] p", "holds :- p [5].\n"),
        ("ltl", "a := p and q.", "a :- p, q.\n"),
        (
            "cql",
            "CREATE STREAM s (a); SELECT a FROM s [NOW]",
            "answer(S_a) :- s(S_a) [0].\n",
        ),
        (
            "etalis",
            "a <- x",
            "a_iv(T, T) :- @T a [inf].\nx_iv(T, T) :- @T x [inf].\na_iv(T1, T2) :- x_iv(T1, T2).\n",
        ),
    ],
)
def test_a_text(language: str, text: str, program: str) -> None:
    assert run("--from", language, "-e", text) == (0, program, "")


def test_files(tmp_path: Path) -> None:
    file, out = tmp_path / "f.ltl", tmp_path / "f.lars"
    file.write_text("a := once p.\n")
    assert run(str(file), "-o", str(out)) == (0, "", "")
    assert out.read_text() == "a :- p [inf].\n"
    assert run("-", "--from", "ltl", given="a := once p.") == (0, "a :- p [inf].\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give either a file or -e TEXT"),
        (["f.ltl", "-e", "p"], "give either a file or -e TEXT"),
        (["-e", "p"], "which language is this?"),
        (["--from", "ltl", "-e", " "], "there is nothing to translate"),
        (["f.txt"], "which language is this?"),
        (["none.ltl"], "this file cannot be read: No such file"),
        (["--from", "ltl", "-e", "next p"], "`next` looks into the future"),
        (["--from", "sql", "-e", "p"], "sql"),
    ],
)
def test_wrong_use(words: list[str], message: str) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in err
