"""Bi-models: pairs of streams that tell programs apart in some context.

Programs are strongly equivalent if they have the same bi-models: pairs of a smaller and a larger
stream such that the larger one is a model of the program, and the smaller one of the rules whose
body holds in the larger (Theorems 19 and 21 of the thesis). One call of the solver looks for a pair
that is a bi-model of one program only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import clingo

from horai.equivalence.circuits import Circuits, Gate, NotACircuit, World
from horai.lang.lars.syntax import At, Atom, Choice, Option, Program, Rule
from horai.lang.terms import Int
from horai.oracle.lars.grounding import Grounding
from horai.oracle.lars.instances import Instance
from horai.oracle.lars.stream import Pair, Stream

BiModel = tuple[frozenset[Pair], frozenset[Pair]]


def difference(
    programs: tuple[Program, Program], data: Stream, time: int, universe: Sequence[Pair]
) -> tuple[BiModel, bool] | None:
    """Two sets of derived atoms that are a bi-model of one program only; None if there are none.

    The truth value says whether already the larger stream is no model of the other program.
    """
    open_pairs = [pair for pair in universe if pair not in data.pairs]
    numbers = {pair: number for number, pair in enumerate(open_pairs)}
    circuits = Circuits()
    text = [f"{{ r({n}) }}. {{ l({n}) }} :- r({n})." for n in numbers.values()]
    for name, program in zip("ab", programs, strict=True):
        grounding = _ground(program, data, time, open_pairs)
        whole = data.plus(open_pairs)
        facts = grounding.background
        large = World(circuits, whole, facts, lambda pair: f"r({numbers[pair]})")
        small = World(circuits, whole, facts, lambda pair: f"l({numbers[pair]})")
        for instance in grounding.instances:
            text.extend(_violations(name, instance, circuits, large, small, time, whole))
    text.extend(circuits.rules)
    text.append("bad(X) :- worse(X). :- bad(a), bad(b). :- not bad(a), not bad(b).")
    text.append("#show r/1. #show l/1. #show worse/1. #defined bad/1. #defined worse/1.")
    return _solved("\n".join(text), open_pairs)


def _ground(program: Program, data: Stream, time: int, universe: Sequence[Pair]) -> Grounding:
    """The instances of a program when any atom of the universe may hold.

    A choice among them makes the grounder believe it; afterwards the choice is dropped.
    """
    options = tuple(Option(At(Int(t), atom)) for t, atom in universe)
    anything = Choice(options)
    grounding = Grounding(replace(program, rules=(*program.rules, Rule(anything))), data, time)
    grounding.instances = [i for i in grounding.instances if i.head != anything]
    return grounding


def _violations(
    name: str,
    instance: Instance,
    circuits: Circuits,
    large: World,
    small: World,
    time: int,
    whole: Stream,
) -> list[str]:
    """Rules that tell when a pair of streams is no bi-model because of an instance."""
    body = large.all(instance.body, time)
    if isinstance(instance.head, Choice):
        choice = instance.head
        if choice.least is not None or choice.most is not None:
            raise NotACircuit("a choice with bounds")
        found: list[str] = []
        for option in choice.options:
            parts = (option.head, *option.condition)
            taken = circuits.both([body, large.all(parts, time)])
            reason = small.all((*instance.body, *option.condition), time)
            missing = circuits.no(small.all((option.head,), time))
            found += _when(f"bad({name})", circuits.both([taken, reason, missing]))
        return found
    head = () if instance.head is None else (instance.head,)
    fails: Gate = True if instance.head is None else circuits.no(large.all(head, time))
    loses: Gate = True if instance.head is None else circuits.no(small.all(head, time))
    return [
        *_when(f"worse({name})", circuits.both([body, fails])),
        *_when(f"bad({name})", circuits.both([body, small.all(instance.body, time), loses])),
    ]


def _when(head: str, gate: Gate) -> list[str]:
    if isinstance(gate, bool):
        return [f"{head}."] if gate else []
    return [f"{head} :- {gate}."]


def _solved(text: str, universe: Sequence[Pair]) -> tuple[BiModel, bool] | None:
    control = clingo.Control(["1", "--warn=none"])
    control.add("base", [], text)
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        for model in handle:
            small: set[Pair] = set()
            large: set[Pair] = set()
            is_total = False
            for symbol in model.symbols(shown=True):
                if symbol.name == "worse":
                    is_total = True
                else:
                    pair = universe[symbol.arguments[0].number]
                    (large if symbol.name == "r" else small).add(pair)
            return (frozenset(small), frozenset(large)), is_total
    return None


def separating(found: BiModel, is_total: bool) -> tuple[Rule, ...]:
    """Rules that, added to both programs, make the difference show (the proof of Theorem 21)."""
    small, large = found
    facts = tuple(Rule(At(Int(t), a)) for t, a in _sorted(large if is_total else small))
    if is_total:
        return facts
    others = _sorted(large - small)
    implied = (
        Rule(At(Int(z), b), (At(Int(y), a),))
        for (y, a), (z, b) in product(others, others)
        if (y, a) != (z, b)
    )
    return (*facts, *implied)


def _sorted(pairs: frozenset[Pair]) -> list[tuple[int, Atom]]:
    return sorted(pairs, key=lambda pair: (pair[0], repr(pair[1])))
