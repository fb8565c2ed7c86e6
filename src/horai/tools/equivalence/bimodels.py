"""Bi-models: pairs of streams that tell programs apart in some context.

Programs are strongly equivalent if they have the same bi-models: pairs of a smaller and a larger
stream such that the larger one is a model of the program, and the smaller one of the rules whose
body holds in the larger (Theorems 19 and 21 of the thesis). One call of the solver looks for a pair
that is a bi-model of one program only; formulas become circuits, functions of the atoms that hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from itertools import product

import clingo

from horai.lang.core.terms import Int
from horai.lang.lars import syntax as lars
from horai.oracle.lars.entailment import Part, Semantics
from horai.oracle.lars.grounding import Instance, ProgramGrounding
from horai.oracle.lars.stream import Pair, Stream

Gate = bool | str
"""A constant, or the name of a gate that holds when its formula does."""
Wire = Callable[[Pair], str]
"""The name of the gate for a derived atom at a time."""


class NotACircuit(Exception):
    """A formula that depends on derived atoms in another way than gates can say."""


class Circuits:
    """Gates for formulas over one stream, with the rules that define them."""

    def __init__(self) -> None:
        self.rules: list[str] = []
        self._known: dict[tuple[str, tuple[str, ...]], str] = {}

    def both(self, gates: Iterable[Gate]) -> Gate:
        """A gate that holds when all gates do."""
        kept: dict[str, None] = {}
        for gate in gates:
            if gate is False:
                return False
            if gate is not True:
                kept[str(gate)] = None
        if len(kept) < 2:
            return next(iter(kept), True)
        return self._gate("and", tuple(kept))

    def either(self, gates: Iterable[Gate]) -> Gate:
        """A gate that holds when one of the gates does."""
        kept: dict[str, None] = {}
        for gate in gates:
            if gate is True:
                return True
            if gate is not False:
                kept[str(gate)] = None
        if len(kept) < 2:
            return next(iter(kept), False)
        return self._gate("or", tuple(kept))

    def no(self, gate: Gate) -> Gate:
        """A gate that holds when another one does not."""
        return not gate if isinstance(gate, bool) else self._gate("not", (gate,))

    def _gate(self, kind: str, inputs: tuple[str, ...]) -> str:
        key = (kind, inputs)
        if key not in self._known:
            name = self._known[key] = f"g({len(self._known)})"
            match kind:
                case "and":
                    self.rules.append(f"{name} :- {', '.join(inputs)}.")
                case "or":
                    self.rules.extend(f"{name} :- {one}." for one in inputs)
                case _:
                    self.rules.append(f"{name} :- not {inputs[0]}.")
        return self._known[key]


class OpenStream(Semantics[Gate]):
    """A stream whose derived atoms are open: `wire` names the gate of each."""

    def __init__(
        self, circuits: Circuits, stream: Stream, background: Set[lars.Atom], wire: Wire
    ) -> None:
        self.whole = (stream,)
        self._circuits = circuits
        self._background = background
        self._wire = wire
        self._known: dict[tuple[lars.Formula, Part, int], Gate] = {}

    def holds(self, formula: lars.Formula, part: Part, time: int) -> Gate:
        key = (formula, part, time)
        if key not in self._known:
            self._known[key] = super().holds(formula, part, time)
        return self._known[key]

    def atom(self, atom: lars.Atom, part: Part, time: int) -> Gate:
        pair = (time, atom)
        if atom in self._background or pair in part[0].signals:
            return True
        return self._wire(pair) if pair in part[0].derived else False

    def aggregate(self, formula: lars.Aggregate, part: Part, time: int) -> Gate:
        raise NotACircuit("an aggregate")

    def negation(self, value: Gate) -> Gate:
        return self._circuits.no(value)

    def both(self, values: Iterable[Gate]) -> Gate:
        return self._circuits.both(values)

    def either(self, values: Iterable[Gate]) -> Gate:
        return self._circuits.either(values)


BiModel = tuple[frozenset[Pair], frozenset[Pair]]


def difference(
    programs: tuple[lars.Program, lars.Program], data: Stream, time: int, universe: Sequence[Pair]
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
        large = OpenStream(circuits, whole, facts, lambda pair: f"r({numbers[pair]})")
        small = OpenStream(circuits, whole, facts, lambda pair: f"l({numbers[pair]})")
        for instance in grounding.instances:
            text.extend(_violations(name, instance, circuits, large, small, time, whole))
    text.extend(circuits.rules)
    text.append("bad(X) :- worse(X). :- bad(a), bad(b). :- not bad(a), not bad(b).")
    text.append("#show r/1. #show l/1. #show worse/1. #defined bad/1. #defined worse/1.")
    return _solved("\n".join(text), open_pairs)


def _ground(
    program: lars.Program, data: Stream, time: int, universe: Sequence[Pair]
) -> ProgramGrounding:
    """The instances of a program when any atom of the universe may hold.

    A choice among them makes the grounder believe it; afterwards the choice is dropped.
    """
    options = tuple(lars.ChoiceOption(lars.At(Int(t), atom)) for t, atom in universe)
    anything = lars.Choice(options)
    grounding = ProgramGrounding(
        replace(program, rules=(*program.rules, lars.Rule(anything))), data, time
    )
    grounding.instances = [i for i in grounding.instances if i.head != anything]
    return grounding


def _violations(
    name: str,
    instance: Instance,
    circuits: Circuits,
    large: OpenStream,
    small: OpenStream,
    time: int,
    whole: Stream,
) -> list[str]:
    """Rules that tell when a pair of streams is no bi-model because of an instance."""
    body = large.together(instance.body, time)
    if isinstance(instance.head, lars.Choice):
        choice = instance.head
        if choice.least is not None or choice.most is not None:
            raise NotACircuit("a choice with bounds")
        found: list[str] = []
        for option in choice.options:
            parts = (option.head, *option.condition)
            taken = circuits.both([body, large.together(parts, time)])
            reason = small.together((*instance.body, *option.condition), time)
            missing = circuits.no(small.together((option.head,), time))
            found += _when(f"bad({name})", circuits.both([taken, reason, missing]))
        return found
    head = () if instance.head is None else (instance.head,)
    fails: Gate = True if instance.head is None else circuits.no(large.together(head, time))
    loses: Gate = True if instance.head is None else circuits.no(small.together(head, time))
    return [
        *_when(f"worse({name})", circuits.both([body, fails])),
        *_when(f"bad({name})", circuits.both([body, small.together(instance.body, time), loses])),
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


def separating(found: BiModel, is_total: bool) -> tuple[lars.Rule, ...]:
    """Rules that, added to both programs, make the difference show (the proof of Theorem 21)."""
    small, large = found
    facts = tuple(lars.Rule(lars.At(Int(t), a)) for t, a in _sorted(large if is_total else small))
    if is_total:
        return facts
    others = _sorted(large - small)
    implied = (
        lars.Rule(lars.At(Int(z), b), (lars.At(Int(y), a),))
        for (y, a), (z, b) in product(others, others)
        if (y, a) != (z, b)
    )
    return (*facts, *implied)


def _sorted(pairs: frozenset[Pair]) -> list[tuple[int, lars.Atom]]:
    return sorted(pairs, key=lambda pair: (pair[0], repr(pair[1])))
