"""`horai fmt`, and rules from standard input."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from horai.cli.app import app

UGLY, NICE = "a(X):-b(X).\n", "a(X) :- b(X).\n"


def horai(*words: str, text: str | bytes | None = None) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, words, input=text)
    return found.exit_code, found.stdout, found.stderr


def test_files_are_written_in_place_once(tmp_path: Path) -> None:
    path = tmp_path / "r.ec"
    path.write_bytes(UGLY.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    assert horai("fmt", str(path))[:2] == (0, "1 file changed, 0 as before\n")
    assert path.read_bytes() == NICE.replace("\n", "\r\n").encode()
    assert path.stat().st_mode & 0o777 == 0o640
    assert horai("fmt", str(path))[:2] == (0, "0 files changed, 1 as before\n")
    assert [one.name for one in tmp_path.iterdir()] == ["r.ec"]


def test_check_and_diff_write_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.ec"
    path.write_text(UGLY)
    assert horai("fmt", "--check", str(path))[:2] == (1, f"{path} would change\n")
    status, shown, _ = horai("fmt", "--diff", str(path))
    assert status == 0
    assert f"-{UGLY}+{NICE}" in shown
    assert path.read_text() == UGLY
    path.write_text(UGLY.rstrip())
    _, shown, _ = horai("fmt", "--diff", str(path))
    assert f"-{UGLY.rstrip()}\n\\ No newline at end of file\n+{NICE}" in shown
    path.write_text(NICE)
    assert horai("fmt", "--check", str(path))[:2] == (0, "")


def test_a_mistake_in_one_file_leaves_all_as_they_are(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.ec", tmp_path / "bad.ec"
    good.write_text(UGLY)
    bad.write_text("a(X) :- b(X.\n")
    status, _, told = horai("fmt", str(good), str(bad))
    assert (status, good.read_text()) == (2, UGLY)
    assert f"{bad}:1:" in told


def test_without_files_the_project_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "horai.toml").write_text(
        '[project]\nname = "p"\nrules = ["r.ec"]\nbackground = ["b.ec"]\n'
    )
    (tmp_path / "r.ec").write_text(UGLY)
    (tmp_path / "b.ec").write_text("b( 1 ).\n")
    monkeypatch.chdir(tmp_path)
    assert horai("fmt")[:2] == (0, "2 files changed, 0 as before\n")
    assert (tmp_path / "b.ec").read_text() == "b(1).\n"


def test_standard_input() -> None:
    assert horai("fmt", "-", text=UGLY)[:2] == (0, NICE)
    program = horai("fmt", "-", "--stdin-name", "x.lars", text="h:-a [2 s] ,b.")
    assert program[:2] == (0, "h :- a [2 s], b.\n")
    assert horai("check", "-", text="initiatedAt(on=true, T) :- happensAt(up, T).")[0] == 0
    status, _, told = horai("check", "-", "--stdin-name", "x.lars", text="h :- always a.")
    assert status == 2
    assert "x.lars:1:" in told


@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        (("fmt", "-", "more.ec"), "", "stands beside files"),
        (("fmt", "r.ec", "--stdin-name", "x.lars"), "", "give - in place of files"),
        (("fmt", "-"), b"\xff", "not UTF-8"),
        (("check", "-", "--stdin-name", "x.lars", "-b", "b.lars"), "h :- a.", "no background"),
    ],
)
def test_wrong_use_is_told(words: tuple[str, ...], text: str | bytes, said: str) -> None:
    status, _, told = horai(*words, text=text)
    assert status == 2
    assert said in told
