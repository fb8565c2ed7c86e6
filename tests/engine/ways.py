"""Sessions that work by change beside sessions that do not: the same answers, or why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.engine.comparing import Lines, Setting, batches_of, lines, read, tables_of

from horai.engine.answer import Answer, Which
from horai.engine.profile import Profile
from horai.engine.session import Incremental, Session
from horai.lang.ec.errors import EngineError
from horai.oracle.ec.session import OracleItem

PARTS: tuple[Which, ...] = ("all", "window", "new", "gone")
# Is the session saved and restored before a query, and in which way does it go on?
Restored = Callable[[int], Incremental | None]


def session_of(text: str, setting: Setting, way: Incremental) -> Session:
    """A session that works in one of the ways."""
    return Session(read(text), incremental=way, **setting.options())


def apart(
    text: str,
    items: Sequence[OracleItem],
    setting: Setting,
    way: Incremental = "always",
    restored: Restored = lambda query: None,
    **options: Any,
) -> str | None:
    """How answers by change differ from those from scratch; None if they do not."""
    items = [replace(item, tag=number) for number, item in enumerate(items, 1)]
    scratch, other = (Going(text, setting, one, options) for one in ("never", way))
    for query, batch in zip(setting.queries, batches_of(items, setting.queries), strict=True):
        going_on = restored(query)
        if going_on is not None:
            other.restore(going_on)
        expected, found = (going.told(query, batch) for going in (scratch, other))
        if expected != found:
            return _difference(query, expected, found)
        if "refused" in expected:
            return None
    # What an answer says stays the same, whenever it is looked at.
    for early, late in zip(scratch.answers, other.answers, strict=True):
        if parts_of(early) != parts_of(late):
            return "later: " + _difference(early.query, parts_of(early), parts_of(late))
    left = [[(d.line, str(d.reason)) for d in one.session.finish()] for one in (scratch, other)]
    return None if left[0] == left[1] else f"left over: {left[0]}, {left[1]}"


class Going:
    """A session and the answers it gave."""

    def __init__(
        self, text: str, setting: Setting, way: Incremental, options: Mapping[str, Any]
    ) -> None:
        self.options = {**setting.options(), **options, "incremental": way}
        self.hidden = bool(self.options.pop("hide_input", False))
        self.patient = bool(self.options.pop("patient", False))
        self.watched = bool(self.options.pop("watched", False))
        self.description = read(text)
        self.session = self._fresh()
        self.answers: list[Answer] = []

    def _fresh(self) -> Session:
        session = Session(self.description, **self.options)
        if self.hidden:
            session.hide_input()
        if self.watched:
            session.profile = Profile()
        return session

    def restore(self, way: Incremental) -> None:
        """Go on with another session that knows what was saved, and works in some way."""
        saved = self.session.save()
        self.options["incremental"] = way
        self.session = self._fresh()
        self.session.restore(saved)

    def told(self, query: int, batch: Sequence[OracleItem]) -> dict[str, Lines]:
        """What is said at a query time; patient ones look only when all is over."""
        try:
            answer = self.session.advance(query, tables_of(batch))
        except EngineError as error:
            return {"refused": [type(error).__name__]}
        self.answers.append(answer)
        dropped = sorted(f"{d.line} {d.reason}" for d in answer.dropped)
        return {"dropped": dropped} if self.patient else {**parts_of(answer), "dropped": dropped}


def parts_of(answer: Answer) -> dict[str, Lines]:
    """The parts of an answer; without an archive there is no `all`."""
    found: dict[str, Lines] = {}
    for part in PARTS:
        try:
            found[part] = lines(answer, part)
        except KeyError:
            assert part == "all"
    return found


def _difference(query: int, wanted: dict[str, Lines], found: dict[str, Lines]) -> str:
    for part in dict.fromkeys([*wanted, *found]):
        one, other = wanted.get(part, []), found.get(part, [])
        if one != other:
            return f"`{part}` differs at {query}:{_beside(one, other)}"
    return f"parts differ at {query}"


def served(session: Session) -> tuple[int, int]:
    """How many components are brought up to date by change, of how many."""
    parts = session.live.parts
    return sum(part is not None for part in parts) * session.live.possible, len(parts)


def _beside(wanted: Lines, found: Lines) -> str:
    missing = [f"\n  - {line}" for line in wanted if wanted.count(line) > found.count(line)]
    extra = [f"\n  + {line}" for line in found if found.count(line) > wanted.count(line)]
    return "".join([*missing, *extra])
