"""A run of a LARS program on the compiled tables: signals in, what comes and goes out.

One query time after the other, or many at once; signals may come late and be taken back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from horai.engine.arrow_items import ORDER
from horai.engine.core.built import compiled
from horai.engine.core.words import Words
from horai.engine.lars.program import Tables
from horai.engine.rows import Rows
from horai.engine.symbols import Symbols
from horai.lang.lars.syntax import Atom
from horai.plan.lars.strata import Key, ProgramPlan
from horai.temporal.spans import INF, Ints, Spans


class Signal(NamedTuple):
    """An atom at a time; `order` is its place in the input, which orders signals of one time."""

    time: int
    order: int
    atom: Atom


class News(NamedTuple):
    """What came and what went at a query time, and whether there is an answer."""

    query: int
    came: list[tuple[Key, tuple[int, ...]]]
    gone: list[tuple[Key, tuple[int, ...]]]
    has_answer: bool


class StepNews(NamedTuple):
    """What came and went at many query times: each time, a sign and words; of `none`, no answer."""

    atoms: dict[Key, Ints]
    none: Ints

    def each(self, has_answer: bool) -> Iterator[News]:
        """The query times at which something changed, and whether there is an answer then."""
        listed: dict[int, News] = {}
        for key, table in self.atoms.items():
            for query, sign, *words in table.tolist():
                news = listed.get(query)
                if news is None:
                    news = listed[query] = News(query, [], [], True)
                (news.came if sign > 0 else news.gone).append((key, tuple(words)))
        changed = {query: sign < 0 for query, sign in self.none.tolist()}
        for query in sorted({*listed, *changed}):
            has_answer = changed.get(query, has_answer)
            found = listed.get(query, News(query, [], [], True))
            yield found._replace(has_answer=has_answer)

    def spans(self, key: Key, end: int) -> tuple[Ints, Spans]:
        """The words of the atoms of a predicate, and from when until when each holds."""
        return _paired(self.atoms.get(key, np.empty((0, 2 + key[1]), np.int64)), end)

    def unanswered(self, end: int) -> list[tuple[int, int]]:
        """From when until when there is no answer."""
        _, spans = _paired(self.none, end)
        return list(zip(spans.start.tolist(), spans.end.tolist(), strict=True))


def _paired(table: Ints, end: int) -> tuple[Ints, Spans]:
    """Coming and going of rows, each after the other, as rows with spans."""
    columns = [table[:, place] for place in range(table.shape[1])]
    order = np.lexsort((columns[0], *columns[2:]))
    rows = table[order]
    come = np.flatnonzero(rows[:, 1] > 0)
    after = np.append(rows[:, 0], end)[come + 1]
    stays = np.append(rows[:, 1], 1)[come + 1] > 0
    until = np.where(stays, end, after)
    return rows[come, 2:], Spans(np.arange(len(come)), rows[come, 0], until)


def _step(times: Ints, queries: range) -> Ints:
    """The number of the first query time that is not before each time."""
    first: Ints = -((queries.start - times) // queries.step)
    return np.clip(first, 0, len(queries))


class LarsRun:
    """A program at growing query times."""

    def __init__(self, plan: ProgramPlan, start: int, symbols: Symbols | None = None) -> None:
        self.words = Words(Symbols() if symbols is None else symbols)
        self.tables = Tables(plan, start, self.words)
        self.start = start
        self._made = compiled("views")
        self.has_answer = True
        self.begin()

    def begin(self) -> None:
        """Forget all that has come."""
        self._views = self._made.Views(self.tables.asked, self.start)
        self.tables.give_to(self._views)
        self.has_answer = True

    def step(self, query: int, added: Iterable[Signal], removed: Iterable[Signal]) -> News | None:
        """Go on to a query time; None if something is lacking that was forgotten."""
        came, word = self.tables.came, self.words.word
        rows = [
            (came(self._views, atom.predicate), time, order, sign, tuple(map(word, atom.args)))
            for sign, signals in ((1, added), (-1, removed))
            for time, order, atom in signals
        ]
        if not self._views.step(query, rows):
            return None
        found = News(query, [], [], self.has_answer)
        outputs = self.tables.outputs
        for output, words in self._views.take_news():
            if output == len(outputs):
                self.has_answer = words[-1] < 0
                found = found._replace(has_answer=self.has_answer)
                continue
            key = outputs[output]
            width = key[1] + 2
            for place in range(0, len(words), width):
                listed = found.came if words[place + 1] > 0 else found.gone
                listed.append((key, tuple(words[place + 2 : place + width])))
        return found

    def steps_of_rows(self, queries: range, rows: Mapping[Key, Rows]) -> StepNews:
        """Go through many query times, with signals as events that come with their order.

        Those that have numbers of these names are known `since` a time and `until` another one.
        """
        parts: list[tuple[Ints, ...]] = []
        words: list[Ints] = []
        size = 0
        for key, signals in rows.items():
            count, number = signals.size, self.tables.came(self._views, key)
            place = size + key[1] * np.arange(count)
            size += key[1] * count
            columns = [self.words.of_column(column) for column in signals.terms]
            words += [np.stack(columns, axis=1).reshape(-1)] if columns else []
            come, gone = (
                _step(signals.numbers.get(name, np.full(count, always)), queries)
                for name, always in (("since", queries.start), ("until", INF))
            )
            same = (np.full(count, number), signals["start"], signals[ORDER])
            for step, sign in ((come, 1), (gone, -1)):
                there = (come < gone) & (step < len(queries))
                part = (step, *same, np.full(count, sign), place)
                if there.any():
                    parts.append(part if there.all() else tuple(one[there] for one in part))
        every = list(parts[0] if parts else (np.empty(0, np.int64),) * 6)
        if len(parts) > 1:
            every = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
        if (every[0][1:] < every[0][:-1]).any():
            order = np.argsort(every[0], kind="stable")
            every = [column[order] for column in every]
        self._views.steps(queries, *every, np.concatenate([*words, np.zeros(1, np.int64)]))
        outputs = self.tables.outputs
        found = StepNews({}, np.empty((0, 2), np.int64))
        for output, data in self._views.take_columns():
            said = None if output == len(outputs) else outputs[output]
            table = np.frombuffer(data, np.int64).reshape(-1, 2 + (said[1] if said else 0))
            if said is None:
                found = found._replace(none=table)
                self.has_answer = bool(table[-1, 1] < 0)
            else:
                found.atoms[said] = table
        return found

    def atom(self, key: Key, row: tuple[int, ...]) -> Atom:
        """An atom by its words."""
        return Atom(key[0], tuple(map(self.words.term, row)))
