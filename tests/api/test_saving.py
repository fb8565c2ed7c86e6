"""Sessions that are saved and go on elsewhere, and runs that keep only what was asked for."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import horai
from horai import engines

RULES = """
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
"""
FIRST = ["up|3|3|a", "up|4|14|b", "down|99|99|a", "nonsense|1|1"]
LATER = ["down|15|7|a", "-up|16|14|b"]


ENGINES = sorted(engines.ENGINES)


def fed(engine: str = engines.DEFAULT) -> horai.Session:
    session = horai.loads(RULES).session(start=0, window=20, engine=engine)
    session.advance(10, FIRST)
    return session


@pytest.mark.parametrize("engine", ENGINES)
def test_a_saved_session_goes_on_as_if_nothing_had_happened(engine: str) -> None:
    whole, restored = fed(engine), horai.load_session(fed(engine).save())
    for session in (whole, restored):
        session.advance(20, LATER)
    assert restored.answers[-1].rows == whole.answers[-1].rows
    assert restored.answers[-1].changes == whole.answers[-1].changes
    ended, expected = restored.finish(), whole.finish()
    assert ended.rows() == expected.rows()
    assert ended.dead_letters == expected.dead_letters
    assert [letter.code for letter in ended.dead_letters] == ["outside-run", "unknown-type"]


def test_settings_and_the_query_time_are_saved() -> None:
    session = horai.load_session(fed().save())
    assert (session.window, session.start) == (20, 0)
    with pytest.raises(horai.UsageError, match="10 is not after 10"):
        session.advance(10)


def test_another_process_needs_no_files(tmp_path: Path) -> None:
    rules = tmp_path / "rules.ec"
    rules.write_text(RULES)
    session = horai.load(rules).session(start=0)
    session.advance(10, ["up|3|3|a"])
    (tmp_path / "saved").write_bytes(session.save())
    rules.unlink()
    code = (
        "import horai; session = horai.load_session(open('saved', 'rb').read());"
        "print([(r.start, r.end) for r in session.advance(20, ['down|15|15|a']).spans])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert run.stdout == "[(4, 16)]\n"


def test_predicates_are_given_again() -> None:
    def big(x: int) -> bool:
        return x > 5

    rules = horai.loads(
        "initiatedAt(on(X)=true, T) :- happensAt(up(X), T), big(X).", predicates=[big]
    )
    session = rules.session(start=0)
    session.advance(10, ["up|3|3|9"])
    with pytest.raises(horai.UsageError, match="needs the Python predicate big"):
        horai.load_session(session.save())
    again = horai.load_session(session.save(), predicates=[big])
    assert len(again.advance(20, ["up|13|13|2"]).spans) == 1


def test_what_is_no_saved_session_is_refused() -> None:
    with pytest.raises(horai.UsageError, match="no saved session"):
        horai.load_session(b"something else")


@pytest.mark.parametrize("given", [None, "text", 5, horai.loads("p.")])
def test_what_is_no_bytes_is_refused(given: Any) -> None:
    with pytest.raises(horai.UsageError, match="no saved session, but of type"):
        horai.load_session(given)


def test_rules_are_not_given_again() -> None:
    rules: Any = horai.loads("p.")
    with pytest.raises(horai.UsageError, match="predicates are no Rules"):
        horai.load_session(fed().save(), rules)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_damaged_is_refused(engine: str) -> None:
    saved = fed(engine).save()
    first, checksum, header, _ = saved.split(b"\n", 3)
    cut = b"\n".join((first, checksum, header[:-9]))
    rules = saved.replace(b"initiatedAt", b"initiatedAt(", 1)  # which could not be read as rules
    for damaged in (cut, saved[:-9], rules, saved.replace(b"window", b"wondow", 1)):
        assert damaged != saved
        with pytest.raises(horai.UsageError, match="this saved session is damaged"):
            horai.load_session(damaged)


def test_what_the_default_engine_saved_can_do_nothing_when_it_is_read() -> None:
    assert b"horai columnar session" in fed().save()
    assert b"horai.lang" not in fed().save()  # a pickle would name its classes


def test_an_engine_that_cannot_save_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful:
        def __init__(self, description: object, **settings: object) -> None:
            pass

    monkeypatch.setattr(sys.modules[__name__], "Forgetful", Forgetful, raising=False)
    monkeypatch.setitem(engines.ENGINES, "forgetful", f"{__name__}.Forgetful")
    session = horai.loads(RULES).session(engine="forgetful")
    with pytest.raises(horai.UsageError, match="'forgetful' cannot be saved"):
        session.save()


LINES = ["up|3|3|a", "down|13|13|a"]


@pytest.mark.parametrize("form", ["final", "windows", "changelog"])
def test_a_named_form_of_answer_is_kept(form: str) -> None:
    rules = horai.loads(RULES)
    everything = rules.run(LINES, start=0, end=30, step=10)
    kept = rules.run(LINES, start=0, end=30, step=10, answers=form)
    assert kept.rows() == everything.rows(form)
    assert [answer.query for answer in kept.answers] == [10, 20, 30]
    assert kept.rows("final") == everything.rows("final")


def test_other_forms_are_not_kept_and_that_is_said() -> None:
    result = horai.loads(RULES).run(LINES, start=0, end=30, step=10, answers="final")
    with pytest.raises(horai.UsageError, match="did not keep the windows answer at 10"):
        result.rows("windows")
    session = horai.loads(RULES).session(start=0, answers="changelog")
    first = session.advance(10, LINES)
    assert len(first.spans) == 1
    session.advance(20)
    assert len(first.changes) == 1
    with pytest.raises(horai.UsageError, match="run with answers='final'"):
        _ = first.everything


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", ["windows", "changelog"])
def test_a_session_that_keeps_one_form_needs_no_archive(form: str, engine: str) -> None:
    rules = horai.loads(RULES)
    whole = rules.session(start=0, window=5, engine=engine)
    session = rules.session(start=0, window=5, engine=engine, answers=form)
    for query in range(10, 200, 10):
        lines = [f"up|{query - 2}|{query - 2}|a", f"down|{query - 1}|{query - 1}|a"]
        for one in (whole, session):
            one.advance(query, lines)
        session = horai.load_session(session.save()) if query == 100 else session
    wanted = [row for row in whole.finish().rows(form) if row.query is None or row.query > 100]
    result = session.finish()
    assert result.rows() == wanted
    assert repr(result) == "<Result: 9 query times, 0 dead letters>"
    assert result._repr_html_().startswith("<p>Result: 9 query times")
    with pytest.raises(horai.UsageError, match="run with answers='final'"):
        result.holds_for("on(a)=true")


def test_saved_sessions_of_one_form_stay_small() -> None:
    session = horai.loads(RULES).session(start=0, window=5, answers="windows")
    sizes = []
    for query in range(10, 400, 10):
        session.advance(query, [f"up|{query - 2}|{query - 2}|a", f"down|{query}|{query}|a"])
        sizes.append(len(session.save()))
    assert sizes[-1] <= sizes[5] + 100
