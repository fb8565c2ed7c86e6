"""Several answer streams of a LARS program: what holds in every one, in some, or in a chosen one.

Answer streams of different query times are not each other's: the second one at a query time is
the second in the order of its atoms, as in all other output.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from horai.io import AnswerRow, AnswerTable
from horai.runtime.lars.answers import GivenAnswer, PointAnswer, PointAnswers, Span

MOST = 12
"""Of more answer streams the first ones can be chosen, beside what some and all of them say."""


class ShownStream(NamedTuple):
    """What can be chosen: its name, its intervals, and where there is no such answer stream."""

    label: str
    table: AnswerTable
    none: list[Span]


def choices(said: PointAnswers) -> tuple[list[ShownStream], int]:
    """All there is to choose, and the largest number of answer streams at a query time."""
    answers = said.final
    most = max((len(answer.models) for answer in answers), default=0)
    found = [
        _choice("in every answer stream", (_every(answer) for answer in answers)),
        _choice("in some answer stream", (_some(answer) for answer in answers)),
    ]
    for number in range(min(most, MOST)):
        label = f"answer stream {number + 1} of up to {most}"
        found.append(_choice(label, (_numbered(answer, number) for answer in answers)))
    return found, most


def _every(answer: PointAnswer) -> PointAnswer:
    models = [set(model) for model in answer.models]
    return _of(answer, [set.intersection(*models)] if models else [])


def _some(answer: PointAnswer) -> PointAnswer:
    models = [set(model) for model in answer.models]
    return _of(answer, [set.union(*models)] if models else [])


def _numbered(answer: PointAnswer, number: int) -> PointAnswer:
    return PointAnswer(answer.query, answer.models[number : number + 1])


def _of(answer: PointAnswer, models: list[set]) -> PointAnswer:  # type: ignore[type-arg]
    return PointAnswer(answer.query, tuple(map(tuple, models)))


def _choice(label: str, answers: Iterable[PointAnswer]) -> ShownStream:
    points = PointAnswers([GivenAnswer(answer.query, answer) for answer in answers])
    spans = points.spans()
    rows: Iterable[AnswerRow] = spans.rows()
    return ShownStream(label, AnswerTable.of(rows), spans.none)
