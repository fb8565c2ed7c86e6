"""A run in two languages as bytes, and back: what each stage knows, and nothing that can run.

Stages of the description are saved as their engine does. A stage of the program is its signals,
what the description told it, and what it has said; an engine that goes on works out the rest again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from horai.both import Together, together
from horai.both_stages import DescriptionStage, ProgramStage
from horai.engine.deltas.store import FluentStore
from horai.engine.lars.signals import Rows
from horai.engine.packing import Packer, Unpacker
from horai.engine.saved import RECORDS
from horai.errors import UsageError
from horai.io import DeadLetter
from horai.lang.ec.builder import read_sources
from horai.lang.lars.reader import read_sources as read_program
from horai.lang.source import Source
from horai.lars import readable
from horai.loading import checked
from horai.predicates import Given, collect_again
from horai.saving import Saved, demand_language, from_bytes, to_bytes

if TYPE_CHECKING:
    from horai.both_session import TogetherSession

LANGUAGE = "both"
NAME = "horai program stage 2"


def save(session: TogetherSession) -> bytes:
    """All that is needed to go on."""
    both = session.both
    sources = [both.rules.description.sources, both.program.program.sources]
    parts = [_saved(stage) for stage in session.runners]
    settings = {
        "language": LANGUAGE,
        "sources": len(sources[0]),
        "parts": [len(part) for part in parts],
        "taken": session.taken,
        "waiting": [(time, tuple(letter)) for time, letter in session.ahead()],
        **session.settings,
    }
    return to_bytes(
        Saved(
            [(source.name, source.text) for some in sources for source in some],
            sorted(both.rules.predicates),
            settings,
            session.last,
            session.letters(),
            session.counting.to_state([answer.revised for answer in session.answers]),
            b"".join(parts),
        )
    )


def _saved(stage: ProgramStage | DescriptionStage) -> bytes:
    if isinstance(stage, DescriptionStage):
        return stage.session.save()
    state = {
        "last": stage.last,
        "signals": {key: tuple(rows) for key, rows in stage.log.rows.items()},
        "feeds": {key: store.public() for key, store in stage.feeds.items()},
        "said": {key: store.public() for key, store in stage.stores.items()},
        "unanswered": list(stage.unanswered),
    }
    return Packer(stage.symbols, RECORDS).bytes(NAME, state)


def load_together(saved: bytes, predicates: Given = None) -> TogetherSession:
    """The session that `TogetherSession.save` saved, with its rules, ready to go on.

    Python predicates are not saved; give them again. Load only what you saved yourself: bytes may
    name the reference engine, which saves pickles.
    """
    found = from_bytes(saved)
    demand_language(found, LANGUAGE)
    functions = collect_again(predicates, found.predicates, "load_together")
    try:
        return _restored(found, functions)
    except (ValueError, LookupError, TypeError) as error:
        hint = "give exactly what session.save() returned"
        raise UsageError("this saved session is damaged", hint) from error


def _restored(found: Saved, functions: dict[str, Any]) -> TogetherSession:
    settings = dict(found.settings)
    del settings["language"]
    number, lengths = settings.pop("sources"), settings.pop("parts")
    taken, waiting = settings.pop("taken"), settings.pop("waiting")
    sources = [Source(name, text) for name, text in found.sources]
    rules = checked(*read_sources(sources[:number]), functions)
    both: Together = together(rules, readable(*read_program(sources[number:])))
    session = both.session(**settings)
    session.last, session.taken = found.query, taken
    session.dead_letters = list(found.dead_letters)
    session.waiting = [(time, DeadLetter(*letter)) for time, letter in waiting]
    session.counting.restore(found.counts)
    place = 0
    for stage, length in zip(session.runners, lengths, strict=True):
        _restore(stage, found.engine[place : place + length])
        place += length
    return session


def _restore(stage: ProgramStage | DescriptionStage, data: bytes) -> None:
    if isinstance(stage, DescriptionStage):
        stage.session.restore(from_bytes(data))
        stage.session.dead_letters.clear()  # the session of both has them
        return
    state = Unpacker(NAME, data, stage.symbols, RECORDS).whole()
    stage.last = state["last"]
    stage.log.rows = {key: Rows(*rows) for key, rows in state["signals"].items()}
    stage.feeds = {key: FluentStore(one, stage.symbols) for key, one in state["feeds"].items()}
    stage.stores = {key: FluentStore(one, stage.symbols) for key, one in state["said"].items()}
    stage.unanswered = [(start, end) for start, end in state["unanswered"]]
    stage.is_restored = True
