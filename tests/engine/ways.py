"""A run in a way of its own beside the plain one: the same answers, or how they differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.engine.comparing import Lines, Setting, batches_of, read, seen, tables_of

from horai.engine.answer import Answer
from horai.engine.profile import Profile
from horai.lang.ec.errors import EngineError
from horai.oracle.ec.session import OracleItem
from horai.runtime.compiled import CompiledEngine

Restored = Callable[[int], bool]  # is the session saved and restored before a query?


def apart(
    text: str,
    items: Sequence[OracleItem],
    setting: Setting,
    restored: Restored = lambda query: False,
    hide_input: bool = False,
    **options: bool,
) -> str | None:
    """How a run differs from that of a plain session; None if it does not.

    `patient` runs look at their answers only when all is over, `watched` ones have a profile, and
    all other options are those of a session.
    """
    items = [replace(item, tag=number) for number, item in enumerate(items, 1)]
    plain = Going(text, setting, hide_input, {})
    other = Going(text, setting, hide_input, options)
    for query, batch in zip(setting.queries, batches_of(items, setting.queries), strict=True):
        if restored(query):
            other.restore()
        expected, found = (going.told(query, batch) for going in (plain, other))
        if difference := _difference(query, expected, found):
            return difference
        if "refused" in expected:
            return None
    # What an answer says stays the same, whenever it is looked at.
    for early, late in zip(plain.answers, other.answers, strict=True):
        if difference := _difference(early.query, seen(early), seen(late)):
            return f"later: {difference}"
    left = [[(d.line, str(d.reason)) for d in one.session.finish()] for one in (plain, other)]
    return None if left[0] == left[1] else f"left over: {left[0]}, {left[1]}"


class Going:
    """A session and the answers it gave."""

    def __init__(
        self,
        text: str,
        setting: Setting,
        hide_input: bool,
        options: Mapping[str, bool],
    ) -> None:
        self.options: dict[str, Any] = {**setting.options(), **options}
        self.hides_input = hide_input
        self.patient = self.options.pop("patient", False)
        self.watched = self.options.pop("watched", False)
        self.description = read(text)
        self.session = self._fresh()
        self.answers: list[Answer] = []

    def _fresh(self) -> CompiledEngine:
        session = CompiledEngine(self.description, **self.options)
        if self.hides_input:
            session.hide_input()
        if self.watched:
            session.watch(Profile())
        return session

    def restore(self) -> None:
        """Go on with another session that knows what was saved."""
        saved = self.session.save()
        self.session = self._fresh()
        self.session.restore(saved)

    def told(self, query: int, batch: Sequence[OracleItem]) -> dict[Any, Lines]:
        """What is said at a query time."""
        try:
            answer = self.session.advance(query, tables_of(batch))
            parts = {} if self.patient else seen(answer)
        except EngineError:
            return {"refused": []}
        self.answers.append(answer)
        return {**parts, "dropped": sorted(f"{d.line} {d.reason}" for d in answer.dropped)}


def _difference(query: int, wanted: Mapping[Any, Lines], found: Mapping[Any, Lines]) -> str | None:
    """How what both say differs; without an archive there is no part `all`."""
    if ("refused" in wanted) != ("refused" in found):
        return f"refused at {query}: {sorted(wanted)}, {sorted(found)}"
    for part in wanted.keys() & found.keys():
        one, other = wanted[part], found[part]
        if one != other:
            return f"`{part}` differs at {query}:{_beside(one, other)}"
    return None


def _beside(wanted: Lines, found: Lines) -> str:
    missing = [f"\n  - {line}" for line in wanted if wanted.count(line) > found.count(line)]
    extra = [f"\n  + {line}" for line in found if found.count(line) > wanted.count(line)]
    return "".join([*missing, *extra])
