"""Files: several together, encodings, line ends, unreadable ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from horai.lang.core.diagnostics import RulesError
from horai.lang.core.reader import read_file
from horai.lang.core.source import SourceText
from horai.lang.core.terms import Constant
from horai.lang.ec.reader import read_files, read_text
from horai.lang.ec.syntax import BackgroundRule, Grounding, Initiation


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_rules_and_background_are_one_description(tmp_path: Path) -> None:
    rules = write(tmp_path / "rules.ec", "initiatedAt(f(X)=true, T) :- happensAt(a(X), T), p(X).")
    more = write(tmp_path / "more.pl", "p(a).\ngrounding(f(X)=true) :- p(X).")
    last = write(tmp_path / "bg.prolog", "p(b).\np(X) :- q(X).\nq(c).")
    description, findings = read_files([rules, more], background=[last])
    assert findings == []
    assert [type(rule) for rule in description.rules] == [Initiation, Grounding, BackgroundRule]
    assert description.facts[("p", 1)].rows == [(Constant("a"),), (Constant("b"),)]
    files = [Path(source.name).name for source in description.sources]
    assert files == ["rules.ec", "more.pl", "bg.prolog"]
    places = [Path(source.name).name for source, _ in description.facts[("p", 1)].places]
    assert places == ["more.pl", "bg.prolog"]


def test_a_predicate_defined_in_another_file_is_no_typing_mistake(tmp_path: Path) -> None:
    rules = write(tmp_path / "rules.ec", "r(X) :- holdAt(X, 5).")
    assert [f.code for f in read_files([rules])[1]] == ["H111"]
    background = write(tmp_path / "bg.ec", "holdAt(a, 5).")
    assert read_files([rules], [background])[1] == []


def test_findings_name_their_file_and_come_in_order(tmp_path: Path) -> None:
    first = write(tmp_path / "a.ec", "p :- X != 3.\nq :- 7.\n")
    second = write(tmp_path / "b.ec", "r :- !.\n")
    findings = read_files([second, first])[1]
    found = [(Path(f.source.name).name, f.position, f.code) for f in findings if f.source]
    assert found == [("a.ec", (1, 8), "H007"), ("a.ec", (2, 6), "H118"), ("b.ec", (1, 6), "H114")]
    error = RulesError(findings)
    assert str(error).count("-->") == 3


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfp(a).\nq(b).\n",
        b"p(a).\r\nq(b).\r\n",
        b"p(a).\rq(b).\r",
        b"p(a). % caf\xc3\xa9\nq(b).",
        b"\xef\xbb\xbfp(a).\r\nq(b).",
    ],
    ids=["byte order mark", "CRLF", "CR", "UTF-8", "mark and CRLF"],
)
def test_encodings_and_line_ends(tmp_path: Path, content: bytes) -> None:
    description, findings = read_files([write(tmp_path / "f.ec", content)])
    assert findings == []
    assert set(description.facts) == {("p", 1), ("q", 1)}
    source, start = description.facts[("q", 1)].places[0]
    assert source.position(start) == (2, 1)


def test_bytes_that_are_no_utf8_are_pointed_at(tmp_path: Path) -> None:
    path = write(tmp_path / "f.ec", b"p(a).\r\n% caf\xe9\r\nq('\xe9\xe8').\nr(b).\n")
    description, findings = read_files([path])
    assert [(f.code, f.position) for f in findings] == [("H015", (2, 6))]
    assert "0xE9" in findings[0].message
    assert ("r", 1) in description.facts


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.ec", tmp_path):
        source, findings = read_file(path)
        assert source.text == ""
        assert [f.code for f in findings] == ["H028"]
        assert findings[0].source is not None
        assert findings[0].source.name == str(path)


def test_an_empty_file_is_fine(tmp_path: Path) -> None:
    assert read_files([write(tmp_path / "f.ec", b"")])[1] == []


def test_texts_in_memory() -> None:
    description, findings = read_files([SourceText("a", "p(a)."), SourceText("b", "p(b).")])
    assert findings == []
    assert len(description.facts[("p", 1)].rows) == 2
    assert read_text("p(a).", "mine")[0].sources[0].name == "mine"


def test_a_file_loads_others_from_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "data" / "areas").mkdir(parents=True)
    rules = write(tmp_path / "rules.ec", "initiatedAt(f(X)=true, T) :- happensAt(a(X), T), p(X).")
    write(tmp_path / "data" / "areas" / "ports.prolog", "p(brest).\n:- ['../more'].")
    write(tmp_path / "data" / "more.pl", "p(lorient).\n:- consult('areas/ports.prolog').")
    load = write(tmp_path / "data" / "load.prolog", ":- ['./areas/ports.prolog', more].\np(a).")
    description, findings = read_files([rules], background=[load])
    assert findings == []
    assert [row for (row,) in description.facts[("p", 1)].rows] == [
        Constant("a"),
        Constant("brest"),
        Constant("lorient"),
    ]
    names = [Path(source.name).name for source in description.sources]
    assert names == ["rules.ec", "load.prolog", "ports.prolog", "more.pl"]


def test_a_file_that_is_given_and_loaded_is_read_once(tmp_path: Path) -> None:
    facts = write(tmp_path / "facts.prolog", "p(a).")
    rules = write(tmp_path / "rules.prolog", ":- ensure_loaded(facts).\nq(X) :- p(X).")
    description, findings = read_files([rules, facts, rules])
    assert findings == []
    assert len(description.facts[("p", 1)].rows) == 1
    assert len(description.rules) == 1


def test_a_file_that_is_not_there_is_said_and_passed_over(tmp_path: Path) -> None:
    rules = write(tmp_path / "rules.prolog", "p(a).\n:- [library(lists)].\n:- ['data/gone.pl'].")
    description, findings = read_files([rules])
    assert [(f.code, f.position) for f in findings] == [("H027", (3, 1))]
    assert "data/gone.pl" in findings[0].message
    assert ("p", 1) in description.facts


def test_texts_may_stand_among_files(tmp_path: Path) -> None:
    facts = write(tmp_path / "facts.prolog", ":- [more].\np(a).")
    write(tmp_path / "more.prolog", "p(b).")
    description, findings = read_files([SourceText("<case>", "q(X) :- p(X).")], [facts])
    assert findings == []
    assert len(description.facts[("p", 1)].rows) == 2
    assert len(description.rules) == 1
