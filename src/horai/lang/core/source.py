"""Source texts, where spans are counted in lines and columns, and nodes of syntax trees."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

from horai.lang.core.terms import Span

Node = TypeVar("Node")


@dataclass(slots=True)
class SourceText:
    """A named text. Columns and lines count from 1."""

    name: str
    text: str
    _starts: list[int] | None = field(default=None, repr=False)

    @property
    def line_starts(self) -> list[int]:
        """Offsets at which lines start, computed on first use."""
        if self._starts is None:
            starts = [0]
            find = self.text.find
            at = find("\n")
            while at != -1:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._starts = starts
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset.

        >>> SourceText("r", "ab\\ncd").position(4)
        (2, 2)
        """
        starts = self.line_starts
        line = bisect_right(starts, max(0, min(offset, len(self.text))))
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line, without its end."""
        starts = self.line_starts
        begin = starts[number - 1]
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[begin:end].rstrip("\r")

    def snippet(self, span: Span) -> str:
        """The text of a span."""
        return self.text[span[0] : span[1]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A node of a syntax tree: it knows where it was written, and compares by what it says."""

    span: Span | None = field(default=None, compare=False, repr=False)


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, bool], ...]:
    """The fields of a kind of node; places and sources are no parts of it."""
    return tuple((one.name, one.compare) for one in fields(kind))


def rebuilt(node: Node, change: Callable[[Any], Any]) -> Node:
    """The node with the parts directly inside it changed: terms, and nodes of any kind."""
    kind: Any = type(node)
    made: dict[str, Any] = {}
    for name, is_part in _fields(kind):
        part = getattr(node, name)
        if is_part and isinstance(part, tuple):
            part = tuple(change(one) if is_dataclass(one) else one for one in part)
        elif is_part and is_dataclass(part):
            part = change(part)
        made[name] = part
    return kind(**made)  # type: ignore[no-any-return]
