"""Conditions over interval lists: set operations, durations, Allen relations."""

from __future__ import annotations

from horai.lang.ec.builtins import ALLEN_MODES, ALLEN_RELATIONS, DURATIONS
from horai.lang.ec.fvp import Shape, read_intervals
from horai.lang.ec.names import nearest
from horai.lang.ec.syntax import Allen, Call, Duration, IntervalOp, Literal
from horai.lang.printer import show
from horai.lang.terms import Atom, Compound, ListTerm, Term, Var


def interval_operation(term: Compound, shape: Shape) -> Literal | None:
    args, name = term.args, term.name
    sound = _check_lists(args[-2], name, shape)
    if not isinstance(args[-1], Var | ListTerm):
        read_intervals(args[-1], shape, f"the result of {name}")
        sound = False
    base: Term | None = None
    if len(args) == 3:
        base = read_intervals(args[0], shape, f"the first argument of {name}")
        sound = sound and base is not None
    if not sound:
        return None
    return IntervalOp(name, base, args[-2], args[-1], term)  # type: ignore[arg-type]


def _check_lists(lists: Term, name: str, shape: Shape) -> bool:
    """True for `[I1, I2, ...]` or a variable that stands for such a list."""
    if isinstance(lists, Var):
        return True
    if isinstance(lists, ListTerm):
        what = f"each element of the list of {name}"
        return None not in [read_intervals(item, shape, what) for item in lists.items]
    message = f"{name} works on a list of interval lists, not on `{show(lists)}`"
    shape.wrong("H120", message, lists, "write it as [I1, I2]")
    return False


def duration(term: Compound, shape: Shape) -> Literal | None:
    form = shape.durations.get((term.name, 3))
    places, op, open_counts = form if form else ((0, 1, 2), DURATIONS[term.name], True)
    intervals, bound, result = (term.args[place] for place in places)
    where = f"an argument of {term.name}"
    if read_intervals(intervals, shape, where) is None:
        return None
    if read_intervals(result, shape, where) is None:
        return None
    return Duration(op, intervals, bound, result, term, open_counts)  # type: ignore[arg-type]


def allen(name: str, args: tuple[Term, ...], term: Compound, shape: Shape) -> Literal | None:
    source, target, mode, result = args
    if isinstance(mode, Atom) and mode.name in ALLEN_MODES:
        what = f"an argument of {name}"
        lists = [read_intervals(part, shape, what) for part in (source, target, result)]
        if None in lists:
            return None
        return Allen(name, source, target, ALLEN_MODES[mode.name], result, term)
    if (term.name, len(term.args)) in shape.defined:
        return Call(term.name, term.args, term)
    meant = nearest(mode.name, ALLEN_MODES, 3) if isinstance(mode, Atom) else None
    hint = f"did you mean `{meant}`?" if meant else "known are " + ", ".join(ALLEN_MODES)
    shape.wrong("H110", f"`{show(mode)}` is no mode of `{name}`", mode, hint)
    return None


def allen_named(term: Compound, shape: Shape) -> Literal | None:
    relation = term.args[0]
    if isinstance(relation, Atom) and relation.name in ALLEN_RELATIONS:
        return allen(relation.name, term.args[1:], term, shape)
    if ("allen", 5) in shape.defined:
        return Call(term.name, term.args, term)
    meant = nearest(relation.name, ALLEN_RELATIONS, 2) if isinstance(relation, Atom) else None
    hint = f"did you mean `{meant}`?" if meant else "known are " + ", ".join(ALLEN_RELATIONS)
    shape.wrong("H110", f"`{show(relation)}` is no relation of intervals", relation, hint)
    return None
