"""LARS by answer set solving: a session answers at growing query times.

Windows over signals are computed in Python and given to clingo, which settles the rest. Either one
clingo stays, in which windows are externals whose truth changes from time to time, or each query
has a fresh one. A bound on the size of the ground program, known without grounding it, decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from math import prod

from clingo import Function, Supremum, Symbol

from horai.asp.encode import Encoder, Encoding, Kinds, Writer
from horai.asp.solving import AnswerSets, Clingo
from horai.asp.symbols import LARGEST, Outgrown, PredicateNames, to_symbol
from horai.asp.windows import Inputs, Row, Signal, ViewKey, WindowView, chain_span, make_view
from horai.lang.core.terms import Int, Var, is_anonymous, variables
from horai.lang.lars.arithmetic import TooLarge
from horai.lang.lars.predicates import is_computed
from horai.lang.lars.syntax import Atom, Predicate, Program
from horai.plan.lars.fragments import ONE, AnswerMode, EndlessValues, NotServed
from horai.plan.lars.normal import ExtendedAtom, PlainProgram, PlainRule, normal_form
from horai.plan.lars.reach import reach_of

Place = tuple[Predicate, int]
_MOST_ROUNDS = 50  # values only grow, and soon stop to


def most_instances(program: PlainProgram) -> int:
    """At most so many ground rules."""
    sizes = _of_facts(program)
    for _ in range(_MOST_ROUNDS):
        before = dict(sizes)
        for rule in program.rules:
            values = _values(rule, sizes, program)
            for head in rule.heads():
                for place, arg in _places(head.atom):
                    size = values.get(arg.name, 1) if isinstance(arg, Var) else 1
                    sizes[place] = max(sizes.get(place, 0), size)
        if sizes == before:
            break
    return sum(prod(_values(rule, sizes, program).values()) for rule in program.rules)


def _of_facts(program: PlainProgram) -> dict[Place, int]:
    values: dict[Place, set[object]] = {}
    for fact in program.facts:
        for place, arg in _places(fact):
            values.setdefault(place, set()).add(arg)
    return {place: len(found) for place, found in values.items()}


def _values(rule: PlainRule, sizes: dict[Place, int], program: PlainProgram) -> dict[str, int]:
    """How many values each variable may have: those of the condition that leaves it the fewest."""
    found: dict[str, int] = {}
    for condition in rule.body:
        element = condition.element
        if condition.negated or not isinstance(element, ExtendedAtom):
            continue
        for place, arg in _places(element.atom):
            if isinstance(arg, Var) and place[0] in program.defined:
                size = sizes.get(place, 0)
                found[arg.name] = min(found.get(arg.name, size), size)
    return found


def _places(atom: Atom) -> list[tuple[Place, object]]:
    return [((atom.predicate, number), arg) for number, arg in enumerate(atom.args)]


Rows = Mapping[ViewKey, Set[Row]]
ToSymbol = Callable[[ViewKey, Row], Symbol]
PATIENCE = 2
"""How many times in a row without new atoms make it likely that the grounding can be kept."""


MOST_RULES = 40_000
"""Solving has its cost even where windows are empty; larger groundings are not worth keeping."""
LATER = 1_000
"""After so many questions it is tried even if the grounding may be too large to keep."""
MOST_IDLE = 256
"""How many atoms of windows may be known without being true before they are forgotten."""


class MultiShot:
    """A clingo that lives on between questions."""

    def __init__(
        self,
        program: PlainProgram,
        encoding: Encoding,
        made: Callable[[], Clingo],
        patience: int = PATIENCE,
    ) -> None:
        self.encoding = encoding
        self.made = made
        self.patience = patience
        fixed = program.background - encoding.signalled
        self.guards = {key: _guards(encoding, fixed, key) for key in encoding.views}
        self.open = [key for key, guards in self.guards.items() if guards is None]
        self.seen: dict[ViewKey, set[Row]] = {key: set() for key in self.open}
        self.quiet = 0 if self.open else patience
        self.clingo: Clingo | None = None
        self.literals: dict[tuple[ViewKey, Row], int | None] = {}
        self.true: dict[ViewKey, set[Row]] = {}
        # To find out costs as much as dozens of answers; it is put off until that is little.
        self.waits = LATER if patience and most_instances(program) > MOST_RULES else 0
        self.is_measured = self.is_too_large = False

    def ready(self, rows: Rows, symbol: ToSymbol) -> Clingo | None:
        """The clingo with what windows hold; None when it is better to ask a fresh one."""
        if not self.is_too_large and self.clingo is not None and not self.is_measured:
            # Asking clingo for its statistics costs more than asking for an answer: once is enough.
            self.is_measured = True
            self.is_too_large = self.patience > 0 and self.clingo.rules() > MOST_RULES
        if self.is_too_large:
            self.clingo = None
            return None
        new = self._learn(rows)
        if self.waits:
            self.waits -= 1
            return None
        if new:
            self.clingo = None
            self.quiet = 0
        else:
            self.quiet += 1
        if self.clingo is None:
            if self.quiet < self.patience:
                return None
            self.clingo = self._ground(rows, symbol)
            self.is_measured = False
        self._assign(self.clingo, rows, symbol)
        return self.clingo

    def _learn(self, rows: Rows) -> bool:
        """Take note of atoms that are new; True if there are any."""
        found = False
        for key in self.open:
            if not rows[key] <= self.seen[key]:
                self.seen[key] |= rows[key]
                found = True
        return found

    def _ground(self, rows: Rows, symbol: ToSymbol) -> Clingo:
        """A clingo with an external for every atom of a window that may come to matter."""
        self.literals = {}
        self.true = {key: set() for key in self.encoding.views}
        lines: list[str] = []
        for key, guards in self.guards.items():
            if guards is not None:
                lines.extend(guards)
                continue
            if len(self.seen[key]) > MOST_IDLE + 4 * len(rows[key]):
                self.seen[key] = set(rows[key])
            lines.extend(f"#external {symbol(key, row)}." for row in self.seen[key])
        clingo = self.made()
        clingo.ground("\n".join([self.encoding.text(), *lines]))
        return clingo

    def _assign(self, clingo: Clingo, rows: Rows, symbol: ToSymbol) -> None:
        """Make externals true and false, as far as they changed."""
        for key, now in rows.items():
            before = self.true[key]
            for changed, truth in ((now - before, True), (before - now, False)):
                for row in changed:
                    literal = self._literal(clingo, key, row, symbol)
                    if literal is not None:
                        clingo.assign(literal, truth)
            self.true[key] = set(now)

    def _literal(self, clingo: Clingo, key: ViewKey, row: Row, symbol: ToSymbol) -> int | None:
        """The external of a row; None for a row that no rule asks for."""
        place = (key, row)
        if place not in self.literals:
            atom = clingo.control.symbolic_atoms[symbol(key, row)]
            self.literals[place] = None if atom is None else atom.literal
        return self.literals[place]


def _guards(encoding: Encoding, fixed: Set[Predicate], key: ViewKey) -> list[str] | None:
    """Externals for all atoms that rules may ask for; None if background facts do not tell them."""
    found: list[str] = []
    for rule, atom in encoding.occurrences[key]:
        guards = _background(rule, fixed)
        guarded = {name for guard in guards for arg in guard.args for name in variables(arg)}
        asked = {name: var for arg in atom.args for name, var in variables(arg).items()}
        if not asked.keys() <= guarded or any(is_anonymous(var) for var in asked.values()):
            return None
        condition = ", ".join(encoding.writer.atom(guard) for guard in guards)
        external = encoding.writer.applied(encoding.views[key], atom.args)
        found.append(f"#external {external} : {condition}." if guards else f"#external {external}.")
    return found


def _background(rule: PlainRule, fixed: Set[Predicate]) -> list[Atom]:
    """Conditions on facts that give all their variables values, which expressions do not."""
    return [
        condition.element.atom
        for condition in rule.body
        if isinstance(condition.element, ExtendedAtom)
        and condition.element.modality == "now"
        and not condition.negated
        and condition.element.atom.predicate in fixed
        and not any(map(is_computed, condition.element.atom.args))
    ]


def _preference(encoding: Encoding, previous: AnswerSets) -> str:
    """Every atom that comes or goes at the current time costs one."""
    lines: list[str] = []
    for (name, arity), pinned in encoding.shown.values():
        if not pinned:
            args = ",".join(f"X{place}" for place in range(arity))
            now = encoding.names.now(name) + (f"({args})" if args else "")
            row = f"1@1,{now}"
            lines.append(f"#minimize {{ {row} : {now}, not _before({now}) }}.")
            lines.append(f"#minimize {{ {row} : _before({now}), not {now} }}.")
    for atom in previous.models[0].at(previous.time):
        args_before = [to_symbol(arg) for arg in atom.args]
        symbol = Function(encoding.names.now(atom.name), args_before)
        lines.append(f"_before({symbol}).")
    return "\n".join(["#defined _before/1.", *lines])


class AspSession:
    """A run of a program with windows in time points. Raises `NotServed` if it is not plain LARS.

    `grounding` says whether clingo grounds the program anew for every question ("fresh"), keeps the
    grounding ("kept") or keeps it as long as that pays ("auto").
    """

    def __init__(
        self,
        program: Program,
        *,
        start: int = 0,
        asked: AnswerMode = ONE,
        grounding: str = "auto",
    ) -> None:
        self.plain = normal_form(program)
        self.asked = asked
        self.start = start
        self.inputs = Inputs(start)
        self.reach = reach_of(program)
        self.kinds = Kinds(self.plain)
        self.read = {one.atom.predicate for rule in self.plain.rules for one in rule.readings()}
        self.read |= self.plain.defined
        self.signalled: frozenset[Predicate] = frozenset()
        self.views: dict[ViewKey, WindowView] = {}
        self.arguments: list[list[Symbol]] = []
        self.grounding = grounding
        self.last: AnswerSets | None = None
        self.encode()

    def encode(self) -> None:
        """Write the rules, for the kinds of signals there are so far."""
        used = {*self.plain.derived, *self.plain.background}
        writer = Writer(PredicateNames(used), self.kinds)
        self.encoded = self.kinds.found
        self.encoding: Encoding = Encoder(self.plain, self.signalled, writer).encode()
        self.views = {
            key: self.views.get(key) or make_view(key, self.inputs) for key in self.encoding.views
        }
        self.known: dict[ViewKey, dict[Row, Symbol]] = {}
        self.multishot: MultiShot | None = None
        if self.encoding.is_timeless and self.grounding != "fresh" and not self.asked.least_change:
            patience = 0 if self.grounding == "kept" else PATIENCE
            self.multishot = MultiShot(self.plain, self.encoding, self.clingo, patience)

    def advance(
        self, time: int, signals: Iterable[Signal] = (), retracted: Iterable[Signal] = ()
    ) -> AnswerSets:
        """The answers at a time, with more signals known than before."""
        new = self.inputs.add(signals)
        self.inputs.retract(retracted)
        self.learn(new)
        rows = {key: view.move(time) for key, view in self.views.items()}
        try:
            clingo = self.grounded(time, rows)
        except Outgrown:
            self.kinds.outgrow()
            self.encode()
            clingo = self.grounded(time, rows)
        self.last = self.answers(clingo, time)
        kept = [view.keep_from(time) for view in self.views.values()]
        self.inputs.forget(min(kept, default=len(self.inputs.times)))
        self.inputs.thin_out(self.reach, time)
        return self.last

    def learn(self, new: Iterable[int]) -> None:
        """Take note of atoms never seen before."""
        atoms = [self.inputs.atoms[number] for number in sorted(new)]
        self.arguments.extend([to_symbol(arg) for arg in atom.args] for atom in atoms)
        signalled = self.signalled | ({a.predicate for a in atoms} & self.plain.defined)
        self.kinds.learn(atom for atom in atoms if atom.predicate in self.read)
        if self.kinds.found != self.encoded or signalled != self.signalled:
            self.signalled = signalled
            self.encode()

    def grounded(self, time: int, rows: Rows) -> Clingo:
        """The rules at a time, grounded in the way that is cheapest for what is new."""
        if self.multishot is not None:
            try:
                kept = self.multishot.ready(rows, self.symbol)
            except (NotServed, TooLarge, EndlessValues):
                # It was about all that has ever been, which may be too much.
                kept, self.multishot = None, None
            if kept is not None:
                return kept
        clingo = self.clingo()
        clingo.functions.windows = [self.tuples(key, rows[key]) for key in self.encoding.views]
        facts = [f"{moment}." for moment in self.moments(time)]
        if self.asked.least_change and self.last is not None and self.last.models:
            facts.append(_preference(self.encoding, self.last))
        clingo.ground("\n".join([self.encoding.text(), self.encoding.feeding(), *facts]))
        return clingo

    def clingo(self) -> Clingo:
        """A fresh one. There is nothing that the first answer could be near to."""
        asked = self.asked
        if self.last is None or not self.last.models:
            asked = replace(asked, least_change=False)
        return Clingo(asked, is_tame=not self.kinds.has_decimals)

    def answers(self, clingo: Clingo, time: int) -> AnswerSets:
        """The answers of the rules that were grounded for a time."""
        return clingo.answers(self.encoding, time)

    def tuples(self, key: ViewKey, rows: Iterable[Row]) -> list[Symbol]:
        """The rows of a window, without its name; most of them were there the last time, too."""
        before = self.known.get(key, {})
        now = {row: before.get(row) or Function("", self.row(row)) for row in rows}
        self.known[key] = now
        return list(now.values())

    def row(self, row: Row) -> list[Symbol]:
        """The arguments of a row."""
        number, time = row
        args = self.arguments[number]
        return args if time is None else [*args, self.point(time)]

    def symbol(self, key: ViewKey, row: Row) -> Symbol:
        """The atom of a window that a row says."""
        return Function(self.encoding.views[key], self.row(row))

    def moments(self, time: int) -> Iterable[Symbol]:
        """The current time, the start, and the points that windows over derived atoms cover."""
        if self.encoding.is_timeless:
            return
        yield Function("_now", [self.point(time)])
        yield Function("_start", [self.point(self.start)])
        for windows, name in self.encoding.spans.items():
            span = chain_span(windows, self.start, time)
            if span is not None:
                last = Supremum if span[1] is None else self.point(span[1])
                yield Function(name, [self.point(span[0]), last])

    def point(self, time: int) -> Symbol:
        """A time as a symbol."""
        if abs(time) > LARGEST and not self.kinds.has_decimals:
            raise Outgrown
        return to_symbol(Int(time))
