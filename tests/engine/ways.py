"""Sessions that work by change beside sessions that do not: the same answers, or why not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tests.engine.comparing import Lines, Setting, batches_of, read, seen, tables_of

from horai.engine.answer import Answer
from horai.engine.errors import EngineError
from horai.engine.session import Incremental, Session
from horai.oracle import Item

Restored = Callable[[int], bool]  # is the session saved and restored before a query?


def session_of(text: str, setting: Setting, way: Incremental) -> Session:
    """A session that works in one of the ways."""
    return Session(read(text), incremental=way, **setting.options())


def apart(
    text: str,
    items: Sequence[Item],
    setting: Setting,
    way: Incremental = "always",
    restored: Restored = lambda query: False,
) -> str | None:
    """How answers by change differ from those from scratch; None if they do not."""
    items = [replace(item, tag=number) for number, item in enumerate(items, 1)]
    scratch, other = (session_of(text, setting, one) for one in ("never", way))
    for query, batch in zip(setting.queries, batches_of(items, setting.queries), strict=True):
        if restored(query):
            saved = other.save()
            other = session_of(text, setting, way)
            other.restore(saved)
        expected, found = (_told(session, query, batch) for session in (scratch, other))
        for part, wanted in expected.items():
            if found[part] != wanted:
                return f"`{part}` differs at {query}:{_beside(wanted, found[part])}"
        if "refused" in expected:
            return None
    left = [[(d.line, str(d.reason)) for d in one.finish()] for one in (scratch, other)]
    return None if left[0] == left[1] else f"left over: {left[0]}, {left[1]}"


def served(session: Session) -> tuple[int, int]:
    """How many components are brought up to date by change, of how many."""
    parts = session.live.parts
    return sum(part is not None for part in parts) * session.live.possible, len(parts)


def _told(session: Session, query: int, batch: Sequence[Item]) -> dict[str, Lines]:
    try:
        answer: Answer = session.advance(query, tables_of(batch))
        found: dict[str, Lines] = {str(part): told for part, told in seen(answer).items()}
    except EngineError as error:
        nothing: dict[str, Lines] = {part: [] for part in ("all", "window", "new", "gone")}
        return {**nothing, "dropped": [], "refused": [type(error).__name__]}
    found["dropped"] = sorted(f"{d.line} {d.reason}" for d in answer.dropped)
    return found


def _beside(wanted: Lines, found: Lines) -> str:
    missing = [f"\n  - {line}" for line in wanted if wanted.count(line) > found.count(line)]
    extra = [f"\n  + {line}" for line in found if found.count(line) > wanted.count(line)]
    return "".join([*missing, *extra])
