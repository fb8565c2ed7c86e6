"""What reading one file yields: blocks of columns, single items, and dead letters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from .blocks import Block, block_of, in_line_order
from .letters import BadRow, DeadLetter, InputError
from .rows import Item
from .schema import TableKey


@dataclass
class Harvest:
    """Collects the rows of one file in whatever order a reader finds them."""

    file: str
    strict: bool = False
    blocks: list[Block] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    letters: list[DeadLetter] = field(default_factory=list)

    def add(self, block: Block) -> None:
        # A column without rows has no type of its own and must not spoil that of others.
        if len(block):
            self.blocks.append(block)

    def row(self, line: int, raw: object, read: Callable[[], Item | None]) -> None:
        """Keep the item that `read` returns, or a dead letter if it says the row is bad."""
        try:
            item = read()
        except BadRow as bad:
            self.refuse(line, raw, bad.code, bad.reason)
        else:
            if item is not None:
                self.items.append(item)

    def refuse(self, line: int, raw: object, code: str, reason: str) -> None:
        """Set a row aside."""
        self.letters.append(DeadLetter(self.file, line, as_text(raw), reason, code))

    def settle(self) -> None:
        """Called after each piece of a file, whose rows come in order: obey `strict`."""
        if self.strict and self.letters:
            raise InputError.from_letter(self.letters[0])

    def sorted_blocks(self) -> list[Block]:
        """One block per table, its rows in the order of the file."""
        groups: dict[TableKey, list[Block]] = {}
        for block in [*self.blocks, *_blocks_of(self.items)]:
            groups.setdefault(block.key, []).append(block)
        return [in_line_order(blocks) for blocks in groups.values()]


def as_text(raw: object) -> str:
    """A row as the text of its dead letter."""
    if isinstance(raw, bytes):
        return raw.decode("utf-8", "backslashreplace")
    try:
        return json.dumps(raw, default=str, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return repr(raw)


def _blocks_of(items: Iterable[Item]) -> list[Block]:
    groups: dict[TableKey, list[Item]] = {}
    for item in items:
        groups.setdefault(item.key, []).append(item)
    return [block_of(group) for group in groups.values()]
