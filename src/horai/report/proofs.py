"""Proofs of some intervals on a page; `horai why` gives those of all others.

A page has a number of them, because all would make it large: the first intervals of each fluent in
turn, of one entity after the other, so that every rule has a chance to be seen at work. Atoms of
programs are worked out by the definition, which may be slow: there is a limit on the time, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from time import process_time
from typing import Any, NamedTuple

from horai.errors import UsageError
from horai.io import quote_atom
from horai.report.lanes import LaneBlock
from horai.report.pack import Pack
from horai.result import Result

MOST_PROOFS = 100
MOST_SECONDS = 20
"""So much CPU time may all proofs of a page take; one that has begun comes to its end."""
DEPTH = 8


class Candidate(NamedTuple):
    """An interval: the number of its row on the page, what holds, and from when on."""

    row: int
    text: str
    start: int


def packed_proofs(
    pack: Pack, result: Result, blocks: Sequence[LaneBlock], most: int
) -> dict[str, Any] | None:
    """Proofs by the number of their row, None without any; `blocks` are all intervals."""
    found: dict[int, dict[str, Any]] = {}
    until = process_time() + MOST_SECONDS
    for row, text, start in islice(_in_turn(pack.texts, blocks), most):
        if process_time() > until:
            break
        try:
            found[row] = result.why(text, at=start, depth=DEPTH).to_dict()
        except UsageError:
            continue  # a window has let go of what is behind it, or the run keeps no items
    return {"number": len(found), "trees": found} if found else None


def _in_turn(texts: Sequence[str], blocks: Sequence[LaneBlock]) -> Iterator[Candidate]:
    """The first interval of each fluent or predicate, the second of each, and so on."""
    row, turns = 0, []
    for block in blocks:
        if block.kind in ("fluent", "atom"):
            turns.append(_candidates(texts, block, row))
        row += len(block.start)
    for some in zip_longest(*turns):
        yield from filter(None, some)


def _candidates(texts: Sequence[str], block: LaneBlock, first: int) -> Iterator[Candidate]:
    """The first interval of each lane, then the second of each, and so on."""
    lanes = [0, *block.rows.cumsum().tolist()]
    for turn in range(int(block.rows.max(initial=0))):
        for lane, begin in enumerate(lanes[:-1]):
            if begin + turn < lanes[lane + 1]:
                start = int(block.start[begin + turn])
                yield Candidate(first + begin + turn, _text(texts, block, lane), start)


def _text(texts: Sequence[str], block: LaneBlock, lane: int) -> str:
    args = ",".join(texts[column[lane]] for column in block.args)
    name = quote_atom(block.name) + (f"({args})" if args else "")
    return name if block.value is None else f"{name}={texts[block.value[lane]]}"
