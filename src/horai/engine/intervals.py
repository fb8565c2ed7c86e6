"""Interval lists as values of variables: spans keyed by the row of a frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import assert_never

import numpy as np

from horai.engine.arithmetic import evaluate
from horai.engine.columns import Column, codes, codes_of
from horai.engine.frames import Frame
from horai.engine.matching import build
from horai.engine.numbers import full
from horai.engine.symbols import Symbols
from horai.engine.world import World
from horai.lang.core.terms import Compound, Constant, Int, ListTerm, Term, Var
from horai.lang.ec.syntax import Allen, DurationFilter, IntervalOp
from horai.temporal.algebra import complement, difference, intersection, union
from horai.temporal.allen import allen
from horai.temporal.coalesce import sort_spans
from horai.temporal.durations import by_duration
from horai.temporal.spans import FIRST, INF, Mask, Spans, no_spans

Result = tuple[Spans, Mask]
# Makes a list that windows may have cut whole again.
Whole = Callable[[object, int, Term, Frame, Spans], Spans]
Pairs = list[tuple[int, int]]


def operate(
    literal: IntervalOp | DurationFilter | Allen,
    frame: Frame,
    world: World,
    uncut: Whole | None = None,
) -> Result:
    """The interval list that an operation gives for every row, and the rows that have one."""
    symbols = world.symbols
    match literal:
        case IntervalOp(kind=kind, base=base, lists=lists):
            parts, valid = _lists(lists, frame, symbols)
            match kind:
                case "union_all":
                    return _union(parts), valid
                case "intersect_all":
                    return _common(parts), valid
                case "complement_all":
                    rows = np.arange(frame.rows)
                    return complement(rows, _union(parts), world.first), valid
                case "relative_complement_all":
                    assert base is not None  # its first argument
                    given, good = as_spans(base, frame, symbols)
                    return difference(given, _union(parts)), valid & good
                case _:
                    assert_never(kind)
        case DurationFilter(op=op, intervals=given, bound=bound, open_counts=open_counts):
            spans, valid = as_spans(given, frame, symbols)
            if uncut is not None:
                spans = uncut(literal, 0, given, frame, spans)
            limit = evaluate(bound, frame.columns, frame.rows, symbols)
            spans = _of_rows(spans, valid & limit.valid)
            bounds = limit.ints if limit.whole.all() and limit.exact is None else limit.real
            each = full(bounds, frame.rows)[spans.key]
            if frame.rows:
                longest = float(full(bounds, frame.rows).max())
                world.undecided.longest = max(world.undecided.longest, longest)
            chosen = by_duration(spans, op, each, world.query, open_counts)
            return chosen, valid & limit.valid
        case Allen(relation=relation, source=source, target=target, mode=mode):
            left, good = as_spans(source, frame, symbols)
            right, valid = as_spans(target, frame, symbols)
            if uncut is not None:
                left = uncut(literal, 0, source, frame, left)
                right = uncut(literal, 1, target, frame, right)
            found = allen(relation, left, right, mode, world.tick, world.allen_memory)
            note_undecided(relation, left, right, world)
            return found, good & valid


def note_undecided(relation: str, left: Spans, right: Spans, world: World) -> None:
    """Pairs may still change while one of their spans is not final, or a later one may come."""
    open_ends = world.settled
    apart = 0
    if relation == "before":
        apart = world.allen_memory or 0
        open_ends = FIRST if world.allen_memory is None else open_ends - apart
    for spans in (left, right):
        world.undecided.related.append((spans, apart))
        starts = spans.start[spans.end > open_ends - 2 * world.tick]
        if len(starts):
            world.undecided.earliest = min(world.undecided.earliest, int(starts.min()))


def _of_rows(spans: Spans, mask: Mask) -> Spans:
    return spans if mask.all() else spans.where(mask[spans.key])


def _union(parts: list[tuple[Spans, Mask]]) -> Spans:
    found = no_spans()
    for spans, _ in parts:
        found = union(found, spans)
    return found


def _common(parts: list[tuple[Spans, Mask]]) -> Spans:
    """The points of all lists; a row counts only the lists it has."""
    if not parts:
        return no_spans()
    found, _ = parts[0]
    for spans, there in parts[1:]:
        if there.all():
            found = intersection(found, spans)
        else:
            inside, outside = found.where(there[found.key]), found.where(~there[found.key])
            found = union(intersection(inside, spans), outside)
    return found


def _lists(term: Term, frame: Frame, symbols: Symbols) -> tuple[list[tuple[Spans, Mask]], Mask]:
    """The lists of a list: spans and which rows have such a list."""
    everywhere = np.ones(frame.rows, np.bool_)
    if isinstance(term, ListTerm) and term.tail is None:
        made = [as_spans(item, frame, symbols) for item in term.items]
        valid = everywhere.copy()
        for _, good in made:
            valid &= good
        return [(spans, everywhere) for spans, _ in made], valid
    return _lists_of_column(build(term, frame.columns, frame.rows, symbols), symbols)


def _lists_of_column(column: Column, symbols: Symbols) -> tuple[list[tuple[Spans, Mask]], Mask]:
    """Rows that hold lists of interval lists, as an aggregate collects them."""
    unique, places = np.unique(codes_of(column, symbols), return_inverse=True)
    known = [_lists_of_term(symbols.term(code)) for code in unique.tolist()]
    valid = np.array([lists is not None for lists in known], np.bool_)[places]
    longest = max((len(lists) for lists in known if lists is not None), default=0)
    found: list[tuple[Spans, Mask]] = []
    for k in range(longest):
        at = [lists[k] if lists is not None and len(lists) > k else None for lists in known]
        there = np.array([pairs is not None for pairs in at], np.bool_)[places]
        found.append((_expanded([pairs or [] for pairs in at], places), there))
    return found, valid


def _lists_of_term(term: Term) -> list[Pairs] | None:
    if not isinstance(term, ListTerm) or term.tail is not None:
        return None
    found = [_pairs_of_term(item) for item in term.items]
    return None if any(pairs is None for pairs in found) else [p for p in found if p is not None]


def _pairs_of_term(term: Term) -> Pairs | None:
    """The intervals of a list term, None if it is no such list."""
    if not isinstance(term, ListTerm) or term.tail is not None:
        return None
    pairs: Pairs = []
    for item in term.items:
        match item:
            case Compound(name=",", args=(Int(value=start), Int(value=end))):
                pairs.append((start, end))
            case Compound(name=",", args=(Int(value=start), Constant(name="inf"))):
                pairs.append((start, INF))
            case _:
                return None
    return pairs


def as_spans(term: Term, frame: Frame, symbols: Symbols) -> Result:
    """The interval list that a term stands for in every row, and the rows where it is one."""
    if isinstance(term, Var) and term.name in frame.lists:
        return frame.lists[term.name], np.ones(frame.rows, np.bool_)
    column = build(term, frame.columns, frame.rows, symbols)
    unique, places = np.unique(codes_of(column, symbols), return_inverse=True)
    known = [_pairs_of_term(symbols.term(code)) for code in unique.tolist()]
    valid = np.array([pairs is not None for pairs in known], np.bool_)[places]
    return _expanded([pairs or [] for pairs in known], places), valid


def _expanded(lists: list[Pairs], places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Spans:
    """The intervals of `lists[places[i]]` for every row i."""
    rows = [(row, s, e) for row, place in enumerate(places.tolist()) for s, e in lists[place]]
    columns = np.array(rows, np.int64).reshape(len(rows), 3).T
    return sort_spans(columns[0], columns[1], columns[2])


def as_terms(spans: Spans, rows: int, symbols: Symbols) -> Column:
    """Interval lists as the list terms `[(s,e), ...]` that other conditions see."""
    offsets = np.searchsorted(spans.key, np.arange(rows + 1)).tolist()
    start, end = spans.start.tolist(), spans.end.tolist()

    def listed() -> Iterator[Term]:
        for row in range(rows):
            yield ListTerm(
                tuple(
                    Compound(
                        ",", (Int(start[i]), Constant("inf") if end[i] == INF else Int(end[i]))
                    )
                    for i in range(offsets[row], offsets[row + 1])
                )
            )

    return codes(symbols.codes(listed()))
