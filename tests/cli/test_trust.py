"""Python of a project runs if it was named or trusted, and never because it lies about."""

import importlib.util
import inspect
import py_compile
from pathlib import Path

import pytest
from tests.cli.conftest import Run

from horai.predicates import from_file, outlined

OWN = """\
import pathlib
from horai import predicate

pathlib.Path({mark!r}).touch()

@predicate
def big(x):
    return x > 5
"""
RULES = "initiatedAt(rich(X)=true, T) :- happensAt(win(X), T), big(X).\n"
PROJECT = """\
[project]
rules = ["rules.ec"]
input = ["day.csv"]
predicates = "own.py"
"""
CASE = """\
run: start 0, end 20

case: a win
narrative:
    win|13|13|9
expect:
    rich(9)=true: (14,inf)
"""


@pytest.fixture
def mark(horai: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose Python leaves a mark when it runs."""
    mark = tmp_path / "ran"
    (tmp_path / "rules.ec").write_text(RULES)
    (tmp_path / "day.csv").write_text("win|13|13|9\n")
    (tmp_path / "own.py").write_text(OWN.format(mark=str(mark)))
    (tmp_path / "horai.toml").write_text(PROJECT)
    (tmp_path / "below").mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return mark


RUNNING = [("run",), ("query", "holds(rich(X)=true)"), ("plan", "--analyze"), ("tune",)]
RUNNING += [("why", "rich(chris)=true", "--at", "9"), ("whatif", "--without", "day.csv:1")]
RUNNING += [("score", "--truth", "day.csv"), ("serve",)]
RUNNING += [("report", "-o", "page.html"), ("stream", "--source", "a", "--sink", "b")]


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize("words", RUNNING, ids=lambda words: words[0])
def test_python_that_nobody_trusted_does_not_run(
    horai: Run, mark: Path, words: tuple[str, ...], below: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if below:
        monkeypatch.chdir("below")
    result = horai(*words)
    assert not mark.exists()
    assert result.exit_code == 2
    assert "own.py, which is not trusted as it is now" in result.stderr
    assert "horai trust" in result.stderr


@pytest.mark.parametrize("words", [("check",), ("graph",), ("plan",)])
def test_who_only_looks_runs_nothing(horai: Run, mark: Path, words: tuple[str, ...]) -> None:
    for more in ((), ("--predicates", "own.py")):
        result = horai(*words, *more)
        assert result.exit_code == 0, result.output
    assert not mark.exists()


def test_check_knows_the_number_of_arguments(horai: Run, mark: Path) -> None:
    Path("rules.ec").write_text(RULES.replace("big(X)", "big(X, Y, Z)"))
    result = horai("check")
    assert result.exit_code == 2
    assert "big" in result.output
    assert not mark.exists()


def test_what_is_named_runs(horai: Run, mark: Path) -> None:
    assert horai("run", "--predicates", "own.py").exit_code == 0
    assert mark.exists()


def test_what_is_trusted_runs_until_it_changes(
    horai: Run, mark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert horai("trust").exit_code == 0
    assert not mark.exists()
    monkeypatch.chdir("below")
    assert horai("run").exit_code == 0
    assert mark.exists()
    mark.unlink()
    own = mark.parent / "own.py"
    own.write_text(own.read_text() + "# another line\n")
    assert horai("run").exit_code == 2
    assert not mark.exists()
    assert horai("trust", "..").exit_code == 0
    assert horai("run").exit_code == 0
    mark.unlink()
    assert horai("trust", "..", "--forget").exit_code == 0
    assert horai("run").exit_code == 2
    assert not mark.exists()


def test_another_file_of_the_same_content_is_not_trusted(horai: Run, mark: Path) -> None:
    horai("trust")
    Path("copy.py").write_bytes(Path("own.py").read_bytes())
    Path("horai.toml").write_text(PROJECT.replace("own.py", "copy.py"))
    assert horai("run").exit_code == 2
    assert not mark.exists()


def test_a_link_to_elsewhere_is_what_it_points_to(horai: Run, mark: Path) -> None:
    horai("trust")
    Path("own.py").rename("other.py")
    Path("own.py").symlink_to("other.py")
    assert horai("run").exit_code == 2
    assert not mark.exists()


def test_tests_of_a_project_need_trust_too(horai: Run, mark: Path) -> None:
    Path("tests").mkdir()
    Path("tests/a.case").write_text(CASE)
    result = horai("test")
    assert not mark.exists()
    assert "not trusted" in result.stderr
    assert result.exit_code == 2
    horai("trust")
    assert horai("test").exit_code == 0


def test_trust_without_a_project_or_predicates(horai: Run, tmp_path: Path) -> None:
    result = horai("trust")
    assert result.exit_code == 2
    assert "horai.toml" in result.stderr
    (tmp_path / "horai.toml").write_text('[project]\nrules = ["rules.ec"]\n')
    assert "nothing to trust" in horai("trust").stdout


def test_compiled_code_that_lies_beside_it_does_not_run(tmp_path: Path) -> None:
    """Python would take it unseen: it says itself that nobody need compare it with the source."""
    own, mark = tmp_path / "own.py", tmp_path / "ran"
    own.write_text(OWN.format(mark=str(mark)))
    cached = importlib.util.cache_from_source(str(own))
    how = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(own), cached, invalidation_mode=how)
    own.write_text("import horai\n\n@horai.predicate\ndef small(x):\n    return x < 5\n")
    assert list(from_file(own)) == ["small"]
    assert not mark.exists()


FORMS = [
    "import horai\n@horai.predicate\ndef p(a, b): pass",
    "import horai as h\n@h.vectorised\ndef p(a, b): pass",
    "from horai import predicate\n@predicate\ndef p(a, /, b=1): pass",
    "from horai import vectorised as fast\n@fast\ndef p(a, b): pass\ndef q(a): pass",
    "from horai import predicate\ndef p(a, b): pass\npredicate(p)",
    "from functools import cache\nimport horai\n@horai.predicate\n@cache\ndef p(a, b): pass",
]


@pytest.mark.parametrize("text", FORMS)
def test_a_look_finds_what_running_finds(tmp_path: Path, text: str) -> None:
    (tmp_path / "own.py").write_text(text)
    ran, seen = from_file(tmp_path / "own.py"), outlined(tmp_path / "own.py")
    assert ran.keys() == seen.keys() == {"p"}
    counts = [len(inspect.signature(found["p"]).parameters) for found in (ran, seen)]
    assert counts == [2, 2]
