"""The fast path for plain facts: large background files are data, not program text.

One regular expression reads `name(arg, ...).` whose arguments are plain words, numbers or simply
quoted atoms. Everything else falls back to the grammar, which gives the same terms.
"""

from __future__ import annotations

import re
from collections.abc import Container

from horai.lang.ec.syntax import Facts
from horai.lang.source import Source
from horai.lang.terms import Atom, Float, Int, Term

_ARG = r"(?:[a-z]\w*|-?[0-9]{1,18}(?:\.[0-9]{1,18})?|'[^'\\\n]*')"
_FACT = re.compile(
    rf"\s*([a-z]\w*)\(([ \t]*{_ARG}(?:[ \t]*,[ \t]*{_ARG})*[ \t]*)\)[ \t]*\.(?=\s|%|\Z)"
)
_ARGS = re.compile(_ARG)

FactsByPredicate = dict[tuple[str, int], Facts]


class FactReader:
    """Reads runs of plain facts out of one source; equal arguments share one term."""

    def __init__(self, source: Source, special: Container[str], into: FactsByPredicate) -> None:
        self._source = source
        self._special = special
        self._into = into
        self._terms: dict[str, Term] = {}

    def read_run(self, at: int) -> int:
        """Take in the plain facts that stand at an offset; the offset after the last one."""
        match, text, source = _FACT.match, self._source.text, self._source
        terms, into, special = self._terms, self._into, self._special
        while (found := match(text, at)) is not None:
            name, written = found.groups()
            if name in special:
                return at
            words = _ARGS.findall(written) if "'" in written else written.split(",")
            try:
                row = tuple([terms[word] for word in words])
            except KeyError:
                row = tuple([self._term(word) for word in words])
            key = (name, len(row))
            facts = into.get(key)
            if facts is None:
                facts = into[key] = Facts()
            facts.rows.append(row)
            facts.places.append((source, found.start(1)))
            at = found.end()
        return at

    def _term(self, word: str) -> Term:
        term = self._terms.get(word)
        if term is None:
            bare = word.strip(" \t")  # no quoted argument has blanks around it here
            term = self._terms.get(bare) or _convert(bare)
            self._terms[bare] = self._terms[word] = term
        return term


def _convert(word: str) -> Term:
    first = word[0]
    if first == "'":
        return Atom(word[1:-1])
    if first == "-" or first.isdigit():
        return Float(float(word)) if "." in word else Int(int(word))
    return Atom(word)
