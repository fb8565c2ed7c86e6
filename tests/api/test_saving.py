"""Sessions that are saved and go on elsewhere, and runs that keep only what was asked for."""

import hashlib
import json
import pickle
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.whole import WHOLE

import horai
from horai.engine.admission import source_of, source_state
from horai.engine.arrow_items import SomeItems
from horai.runtime import engines

RULES = """
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
"""
FIRST = ["up|3|3|a", "up|4|14|b", "down|99|99|a", "nonsense|1|1"]
LATER = ["down|15|7|a", "-up|16|14|b"]


ENGINES = WHOLE


def fed(engine: str = engines.AUTO) -> horai.Session:
    session = horai.loads(RULES).session(start=0, window=20, engine=engine)
    session.advance(10, FIRST)
    return session


@pytest.mark.parametrize("engine", ENGINES)
def test_a_saved_session_goes_on_as_if_nothing_had_happened(engine: str) -> None:
    whole, restored = fed(engine), horai.load_session(fed(engine).save())
    for session in (whole, restored):
        session.advance(20, LATER)
    assert restored.answers[-1].rows() == whole.answers[-1].rows()
    assert restored.answers[-1].changes == whole.answers[-1].changes
    ended, expected = restored.finish(), whole.finish()
    assert ended.rows() == expected.rows()
    assert ended.dead_letters == expected.dead_letters
    assert [letter.code for letter in ended.dead_letters] == ["outside-run", "unknown-type"]


def test_settings_and_the_query_time_are_saved() -> None:
    session = horai.load_session(fed().save())
    assert (session.settings.window, session.start) == (20, 0)
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


@pytest.mark.parametrize("engine", ENGINES)
def test_what_an_engine_saved_can_do_nothing_when_it_is_read(engine: str) -> None:
    session = fed(engine)
    assert f"horai {session.engine} session".encode() in session.save()
    assert b"horai.lang" not in session.save()  # a pickle would name its classes


def forged(saved: bytes, engine: bytes) -> bytes:
    """A saved session with other bytes of the engine, and a checksum that is right."""
    mark, _, header, _ = saved.split(b"\n", 3)
    rest = header + b"\n" + engine
    return b"\n".join((mark, hashlib.sha256(rest).hexdigest().encode(), rest))


OTHERS: tuple[Any, ...] = (None, -1, "x", [], {}, [[1]])
"""What stands where something else was saved."""


def test_a_header_with_values_of_other_types_is_refused() -> None:
    saved = fed().save()
    mark, _, header, engine = saved.split(b"\n", 3)
    for name, value in product(json.loads(header), OTHERS):
        rest = json.dumps({**json.loads(header), name: value}).encode() + b"\n" + engine
        changed = b"\n".join((mark, hashlib.sha256(rest).hexdigest().encode(), rest))
        try:
            horai.load_session(changed).advance(20, LATER)
        except horai.UsageError:  # damaged, other rules, or a predicate that is not there
            continue
        assert type(value) is type(json.loads(header)[name]) or (name, value) == ("query", None)


def test_a_program_with_values_of_other_types_is_refused() -> None:
    session = horai.loads("h(X) :- s(X) [3].", language="lars").session(start=0, allowed_lateness=2)
    session.advance(3, ["s|1|1|a", "s|2|2|b", "s|9|9|c"])
    saved = session.save()
    state = json.loads(saved.split(b"\n", 3)[3])
    for name, value in product(state, OTHERS):
        changed = forged(saved, json.dumps({**state, name: value}).encode())
        try:
            horai.load_session(changed).advance(20, ["s|4|4|d"])
        except horai.UsageError as refused:
            assert "this saved session is damaged" in str(refused)


class Command:
    """What a pickle runs."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_pickle_in_place_of_a_state_does_not_run(engine: str, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    attack = pickle.dumps(Command(mark))
    name = f"horai {engine} session 1 {hashlib.sha256(attack).hexdigest()}\n".encode()
    for data in (attack, name + attack):
        with pytest.raises(horai.UsageError, match="no saved session that can be read"):
            horai.load_session(forged(fed(engine).save(), data))
    assert not mark.exists()
    pickle.loads(attack)
    assert mark.exists()


def repacked(engine: str, change: Callable[[Any], None]) -> bytes:
    """A saved session whose header was changed by hand."""
    whole = fed(engine).save()
    first, line, arrays = whole.split(b"\n", 3)[3].split(b"\n", 2)
    header = json.loads(line)
    change(header)
    rest = json.dumps(header).encode() + b"\n" + arrays
    name = first.rpartition(b" ")[0]
    return forged(whole, name + b" " + hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest)


def begun() -> dict[str, bytes]:
    """A saved session of every engine."""
    rules = horai.loads(RULES)
    program = horai.loads("h(X) :- up(X) [3], not down(X).", language="lars")
    found = {engine: fed(engine).save() for engine in ENGINES}
    for engine in ("plan", "asp", "tms"):
        session = program.session(engine=engine)
        session.advance(10, FIRST)
        found[engine] = session.save()
    together = horai.combine(rules, program).session()
    together.advance(10, FIRST)
    return found | {"together": together.save()}


def renamed(value: Any) -> Iterator[Any]:
    """A value of JSON with one of its keys, anywhere in it, spelled in another way."""
    if isinstance(value, dict):
        for key in value:
            yield {f"{name}*" if name == key else name: one for name, one in value.items()}
            yield from ({**value, key: one} for one in renamed(value[key]))
        yield list(value)


@pytest.mark.parametrize("engine", [*ENGINES, "plan", "asp", "tms", "together"])
def test_a_header_that_says_something_else_is_refused(engine: str) -> None:
    """Its checksum is right: somebody has written it. What nobody reads there does no harm."""
    mark, _, header, rest = begun()[engine].split(b"\n", 3)
    refused = 0
    for other in renamed(json.loads(header)):
        whole = json.dumps(other).encode() + b"\n" + rest
        checksum = hashlib.sha256(whole).hexdigest().encode()
        try:
            session = horai.load_session(b"\n".join((mark, checksum, whole)))
        except horai.UsageError:
            refused += 1
        else:
            session.advance(20, LATER)
            session.save()
    assert refused > 10


@pytest.mark.parametrize("name", ["generation", "arrival", "start", "due"])
def test_rows_of_other_columns_are_refused(name: str) -> None:
    def rename(header: Any) -> None:
        text = json.dumps(header)
        assert f'"{name}"' in text
        header.clear()
        header.update(json.loads(text.replace(f'"{name}"', '"other"')))

    with pytest.raises(horai.UsageError):
        horai.load_session(repacked("compiled", rename))


@pytest.mark.parametrize("size", [10**9, 10**12, 2**62, 10**30])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_size_that_is_only_said_takes_no_memory(engine: str, size: int) -> None:
    def grow(header: Any) -> None:
        header["arrays"] = [["int64", size, "same"] for _ in header["arrays"]]

    with pytest.raises(horai.UsageError, match="far larger than what is stored"):
        horai.load_session(repacked(engine, grow))


def test_a_table_with_a_byte_changed_is_read_or_refused() -> None:
    table = pa.table({"file": ["somewhere", "else"], "line": [1, 2]})
    state = source_state(SomeItems("up", 1, "event", "points", table))
    refused = 0
    for place, sign in product(range(len(state["table"])), b"\0\x01\x13\x7f\xff"):
        data = bytearray(state["table"])
        data[place] = sign
        try:
            source_of({**state, "table": bytes(data)})
        except (ValueError, TypeError, LookupError, OSError, MemoryError):
            refused += 1
    assert refused > 100


def test_offsets_that_point_elsewhere_are_refused() -> None:
    table = pa.table({"file": ["somewhere", "else"]})
    state = source_state(SomeItems("up", 1, "event", "points", table))
    assert source_of(state).table == table
    offsets = struct.pack("<iii", 0, 9, 13)
    assert state["table"].count(offsets) == 1
    forged = state["table"].replace(offsets, struct.pack("<iii", 0, 2**24, 2**25))
    with pytest.raises(pa.ArrowInvalid):
        source_of({**state, "table": forged})


def test_the_reference_goes_on_after_a_rule_has_failed() -> None:
    def inverse(x: int) -> float:
        return 1 / x

    text = "initiatedAt(on(X)=true, T) :- happensAt(up(X), T), inverse(X, _)."
    rules = horai.loads(text, predicates=[inverse])
    whole = rules.session(start=0, engine="reference")
    whole.advance(10, ["up|3|3|1"])
    with pytest.raises(horai.RunError):
        whole.advance(20, ["up|13|13|0"])
    restored = horai.load_session(whole.save(), predicates=[inverse])
    for session in (whole, restored):
        session.advance(30, ["-up|23|13|0"])
    assert restored.answers[-1].changes == whole.answers[-1].changes
    assert restored.answers[-1].rows() == whole.answers[-1].rows()


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
