"""Translated texts run by the engines of LARS."""

from __future__ import annotations

from collections.abc import Iterable

import horai
from horai.lang.core.source import SourceText
from horai.lang.lars.printer import show_program
from horai.lang.translate.languages import translate
from horai.runtime.lars.engines import LARS_ENGINES

EVERY = tuple(LARS_ENGINES)


def program_text(text: str, language: str) -> str:
    """The program for a text without mistakes."""
    return show_program(translate(SourceText("text", text), language))


def answers(
    program: str, rows: Iterable[str], end: int, engine: str, shown: str
) -> dict[int, set[str]]:
    """What holds of some predicates at every time, in the only answer."""
    result = horai.loads(program, language="lars").run(
        list(rows), start=0, end=end, engine=engine, filter=shown
    )
    assert result.dead_letters == []
    found = {}
    for answer in result.answers:
        (texts,) = [set(answer.texts())]
        found[answer.query] = texts
    return found
