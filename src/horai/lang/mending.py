"""Reading one clause after the other: wrong ones are diagnosed, mended and read again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from lark import Token

from horai.lang.brackets import check_brackets
from horai.lang.grammar import GrammarError
from horai.lang.mistakes import diagnose
from horai.lang.report import Report
from horai.lang.signs import INSTEAD, Instead, check_tokens
from horai.lang.source import Source
from horai.lang.trouble import Clauses, Trouble

Parsed = TypeVar("Parsed")
# Mending must come to an end, also where one repair calls for the next.
_MOST_REPAIRS = 50


class ClauseReader(ABC, Generic[Parsed]):
    """Reads the clauses of a language from their tokens."""

    instead: Instead = INSTEAD  # what to write for signs of other languages

    def __init__(self, source: Source, report: Report) -> None:
        self.source = source
        self.report = report

    @abstractmethod
    def parse(self, tokens: list[Token]) -> Parsed:
        """The clause that tokens spell, without their full stop; raises `GrammarError`."""

    @abstractmethod
    def accept(self, parsed: Parsed, trouble: Trouble) -> None:
        """Take in a clause that could be read."""

    def read(self, tokens: list[Token]) -> None:
        """Read one clause; a wrong one is diagnosed, mended where possible and read again."""
        waiting = [(tokens, _MOST_REPAIRS, False)]
        quiet: set[int] = set()
        while waiting:
            current, repairs, sound = waiting.pop()
            trouble = Trouble(current, self.source, self.report, quiet)
            mended = None if sound else check_tokens(trouble, self.instead)
            if mended is None and not sound:
                mended = check_brackets(trouble)
            sound = mended is None
            if mended is None:
                mended = self._try(trouble)
            if len(mended) > 1:
                # Clauses cut apart are clauses of their own, and their tokens were looked at.
                waiting.extend((part, _MOST_REPAIRS, sound) for part in reversed(mended) if part)
            elif repairs:
                waiting.extend((part, repairs - 1, False) for part in mended if part)

    def _try(self, trouble: Trouble) -> Clauses:
        """Take in the clause; if it is wrong, say so and give back what to try next."""
        tokens = trouble.tokens
        ended = tokens[-1].type == "END"
        if len(tokens) == 1 and ended:
            trouble.say("H013", "a full stop without a clause", trouble.span(0), "remove it")
            return []
        try:
            parsed = self.parse(tokens[:-1] if ended else tokens)
        except GrammarError as error:
            return diagnose(trouble, error)
        if not ended:
            hint = "end every clause with `.`"
            last = len(tokens) - 1
            trouble.say("H002", "a full stop is missing here", trouble.after(last), hint)
        self.accept(parsed, trouble)
        return []
