"""Rules as instructions.

A rule is driven by one of its points: an event, or a start, end, initiation or termination of a
fluent. What it asks of facts comes first and is evaluated when the point comes; then, at the level
of its head, what it asks of all that changes. Readings of another instance are linked when they are
made, so that a change there finds the points to evaluate again.

Operators without an instruction, as long as they do not look at the stream, are questions to the
solver, remembered by their arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TypeVar

from horai.engine.core.facts import Rows, StaticFacts, is_changing, is_temporal
from horai.engine.core.layout import Layout, NotLowered, Relation, Site, Table
from horai.engine.core.listterms import Cuts, Pieces
from horai.engine.core.words import Words
from horai.lang.core.arithmetic import CONSTANTS, number_term
from horai.lang.core.printer import show
from horai.lang.core.terms import Compound, Constant, Float, Int, Term, Var, is_ground
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.instructions import (
    ANY,
    CODE,
    FUNCTIONS,
    GHOST,
    INF,
    REGISTERS,
    TO_ROW,
    TOTALS,
    WIDTH,
)
from horai.plan.ec.literals import names
from horai.plan.ec.unify import may_match
from horai.plan.program import Plan

Names = frozenset[str]
Step = TypeVar("Step", op.Scan, op.Stab)
ARITHMETIC = {
    "+": "ADD",
    "-": "SUB",
    "*": "MUL",
    "/": "DIV",
    "//": "IDIV",
    "mod": "MOD",
    "min": "MIN",
    "max": "MAX",
}
ON_LINES = ("HOLDS", "VALUE", "SAY", "TELL")
NOW = "#now"
"""What a question names if its answer depends on the query time."""
MEMBERS = "#members"
"""What a question names if its answer depends on the members of dynamic domains."""
TRUE = Constant("true")
FAR = (INF >> 2) * 2 + 1  # the word of a time after all others


@dataclass(frozen=True, slots=True)
class Label:
    """A place in the code that is not known yet."""

    number: int


@dataclass
class Code:
    """The code of a program, as it grows, and the arguments of its instructions."""

    words: list[int] = field(default_factory=lambda: [0] * WIDTH)
    args: list[int] = field(default_factory=lambda: [0])
    _places: dict[Label, int] = field(default_factory=dict)
    _uses: list[tuple[int, Label]] = field(default_factory=list)
    _lists: dict[tuple[int, ...], int] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=count)
    _constants: dict[int, int] = field(default_factory=dict)
    _barrier: int = -1  # the last place that a label stands for

    def label(self) -> Label:
        """A new label."""
        return Label(next(self._numbers))

    def here(self, label: Label) -> None:
        """The label stands for the next instruction; there is no need to jump to it from before."""
        end = len(self.words) - WIDTH
        if (
            self._uses
            and self._uses[-1] == (end + WIDTH - 1, label)
            and self.words[end] == CODE["JMP"]
            and self._barrier <= end
        ):
            self._uses.pop()
            del self.words[end:]
        self._places[label] = self._barrier = len(self.words)

    def emit(
        self,
        name: str,
        x: int | Label = 0,
        y: int | Label = 0,
        z: int = 0,
        w: int = 0,
        fail: Label | None = None,
    ) -> None:
        """One more instruction. The line of a column of the own row is told by its place."""
        start = len(self.words)
        before = start - WIDTH
        if (
            name in ON_LINES
            and self.words[before : before + 2] == [CODE["OWN"], x]
            and self._barrier <= before
        ):
            x = ~self.words[before + 2]
            del self.words[before:]
            start = before
        for place, operand in enumerate((x, y, z, w, 0 if fail is None else fail), 1):
            if isinstance(operand, Label):
                self._uses.append((start + place, operand))
        plain = [0 if isinstance(operand, Label) else operand for operand in (x, y, z, w)]
        self.words += [CODE[name], *plain, 0]

    def constant(self, word: int) -> int:
        """The register that always holds a word."""
        return REGISTERS + self._constants.setdefault(word, len(self._constants))

    @property
    def constants(self) -> Sequence[int]:
        """The words of such registers, in order."""
        return [*self._constants]

    def list(self, numbers: Sequence[int]) -> int:
        """The place of a list of arguments."""
        key = tuple(numbers)
        if key not in self._lists:
            self._lists[key] = len(self.args)
            self.args += key
        return self._lists[key]

    def link(self) -> None:
        """Put in what labels stand for."""
        for place, label in self._uses:
            self.words[place] = self._places[label]
        self._uses.clear()


@dataclass(frozen=True, slots=True)
class Question:
    """Something that only Python can answer: an operator over some variables, giving others."""

    step: op.Operator | Pieces | Cuts
    given: tuple[str, ...]
    found: tuple[str, ...]
    clause: ec.Clause
    helper: ec.Clause | None  # the background rule that asks, if it is one


@dataclass(frozen=True, slots=True)
class Unvalued:
    """A condition that may have no value: the expression, and its variables that are known."""

    condition: Term
    expression: Term
    names: tuple[str, ...]
    clause: ec.Clause
    helper: ec.Clause | None


class Rules:
    """What the code of all rules has in common. `put_index` gives the machine a relation."""

    def __init__(
        self,
        plan: Plan,
        layout: Layout,
        words: Words,
        facts: StaticFacts,
        put_index: Callable[[Rows, int], int],
        start: int,
        tick: int,
        allen_memory: int | None = None,
    ) -> None:
        self.plan, self.layout, self.words, self.facts = plan, layout, words, facts
        self.put_index, self.start, self.allen_memory = put_index, start, allen_memory
        self.first = start + tick - start % tick  # the first time-point after the start
        self.code = Code()
        self.questions: list[Question] = []
        self.unvalued: list[list[Unvalued]] = []
        self.called: list[str] = []  # procedures, by number

    def clauses(self, key: tuple[str, int], bound: frozenset[int]) -> Sequence[op.Branch]:
        """The rules of a relation that depends on the stream, or of a procedure."""
        procedures = self.plan.procedures.branches
        if (key, bound) in procedures:
            return procedures[key, bound]
        return (*self.plan.background.get(key, ()), *self.facts.moving.get(key, ()))


class Body:
    """The code of one rule: variables are in registers.

    `driver` is the relation whose line drives it, and `keys` the terms of its key.
    """

    def __init__(
        self,
        rules: Rules,
        clause: ec.Clause,
        relation: Relation | None,
        keys: tuple[Term, ...],
        first: int,
        level: int,
        mask: int,
    ) -> None:
        self.rules, self.clause = rules, clause
        self.code, self.words, self.layout = rules.code, rules.words, rules.layout
        self.relation, self.keys = relation, keys
        self.row: Table | None = None  # whose new rows run it, if it is no rule
        self.home = relation.table.home_of(keys) if relation is not None else ()
        self.level, self.mask = level, mask
        self.env: dict[str, int] = {}
        self.next = first
        self.time: Term | None = None
        self.before: dict[str, int] = {}  # times that are always as long before that of the driver
        self.procedures: dict[tuple[tuple[str, int], frozenset[int]], tuple[Label, int]] = {}
        """Where the code of a procedure begins, and where it is described."""
        self.helper: ec.Clause | None = None  # the background rule in work
        self.alike: list[
            tuple[Body, op.Filter | op.Extend]
        ] = []  # who shares the condition in work
        self.loops = False  # may what is done so far have several solutions?
        self.known: Callable[[str], Relation] | None = None
        """The lists of who is known, for variables of interval lists that have no value."""
        self.at_start = False  # does it say once, at the start of the run, what facts alone decide?
        self.nothing_absent = False  # formulas: at the very start of the run

    def of_row(self, key: Sequence[Term]) -> None:
        """It is run for a row with these terms as key."""
        assert self.row is not None
        self.home = self.row.home_of(key)

    # --- registers -------------------------------------------------------------------------------

    def register(self, count: int = 1) -> int:
        """The first of some new registers."""
        self.next += count
        if self.next > REGISTERS:
            raise NotLowered("too many variables", self.clause)
        return self.next - count

    def refuse(self, reason: str) -> NotLowered:
        """An error that says what has no instructions."""
        return NotLowered(reason, self.clause)

    def load(self, term: Term, fail: Label) -> int:
        """The register that holds a term."""
        if isinstance(term, Var):
            if term.name not in self.env:
                raise self.refuse(f"nothing gives a value to {term.name}")
            return self.env[term.name]
        if is_ground(term):
            return self.code.constant(self.words.word(term))
        name = f"#t{self.register()}"
        step = op.equal(Var(name), term)
        self.ask(step, (name,), fail)
        return self.env[name]

    def match(self, term: Term, register: int, fail: Label) -> None:
        """Bind a term to what is in a register, or compare them."""
        if isinstance(term, Var):
            known = self.env.setdefault(term.name, register)
            if known != register:
                self.code.emit("EQ", known, register, fail=fail)
        elif is_ground(term):
            self.code.emit("EQC", register, self.words.word(term), fail=fail)
        else:
            name = f"#p{register}"
            self.env[name] = register
            free = tuple(sorted(names(term) - self.env.keys()))
            self.ask(op.equal(term, Var(name)), free, fail)

    def is_bound(self, term: Term) -> bool:
        """Have all variables of a term a value?"""
        return names(term) <= self.env.keys()

    def ask_domain(
        self, key: tuple[str, int], args: Sequence[Term], value: Term | None, no: Label
    ) -> None:
        """Go on if an entity is in its domain, or if no grounding speaks of its value."""
        registers = [self.load(arg, no) for arg in args]
        valued = None if value is None else self.load(value, no)
        known, clause = self.env, self.clause
        spoken = self.register()
        self.code.emit("LDC", spoken, 0)
        done = self.code.label()
        for plan in self.rules.plan.groundings[key]:
            if value is None and plan.value is not None:
                continue
            self.env, self.clause = {}, plan.clause
            following = self.code.label()
            if plan.value is not None and valued is not None:
                self.match(plan.value, valued, following)
            self.code.emit("LDC", spoken, 1)
            for term, register in zip(plan.terms, registers, strict=True):
                self.match(term, register, following)
            self.chain(plan.check, following)
            self.code.emit("JMP", fail=done)
            self.code.here(following)
        self.code.emit("EQC", spoken, 0, fail=no)
        self.code.here(done)
        self.env, self.clause = known, clause

    def value_of_point(
        self,
        kind: str,
        key: tuple[str, int],
        terms: Sequence[Term],
        found: int,
        fail: Label,
        anywhere: bool = False,
    ) -> Label:
        """Bind the value of an initiation or termination; one of all values is one of each.

        Without a value these are the values that the fluent has had. What is outside its domain
        has no points, unless `anywhere` leaves that to be asked later.
        """
        plan = self.rules.plan
        *args, value = terms[: key[1] + 1]
        if kind == "initiated":
            if by_value(plan, key):
                self.code.emit("NEC", found, GHOST, fail=fail)
            self.match(value, found, fail)
        elif not ends_all(plan, key):
            self.match(value, found, fail)
        elif not self.is_bound(value):
            simple = next(one for one in self.layout.fluent(key) if one.kind == "simple")
            line, fail = self.line(simple, args, self.site(simple, ANY, -INF, INF), fail)
            iterator, out = self.register(2), self.register()
            self.code.emit("VOPEN", iterator, line, found)
            again = self.code.label()
            self.code.here(again)
            self.code.emit("VNEXT", iterator, found, out, fail=fail)
            fail = again
            self.match(value, out, fail)
            self.loops = True
        else:
            self.code.emit("COVERS", found, self.load(value, fail), fail=fail)
        if key in plan.groundings and not anywhere:
            self.ask_domain(key, args, value, fail)
        return fail

    # --- chains ----------------------------------------------------------------------------------

    def chain(self, chain: op.Chain, fail: Label) -> Label:
        """The code of a chain; where to go on for more of its solutions."""
        outside = self.helper
        self.helper = chain.clause or outside
        for step, needed in zip(chain.steps, chain.needed, strict=True):
            fail = self.step(step, needed, fail)
        self.helper = outside
        return fail

    def step(self, step: op.Operator, needed: Names, fail: Label) -> Label:
        """The code of an operator."""
        match step:
            case op.Scan():
                return self._scan(step, fail)
            case op.Stab():
                return self._stab(step, fail)
            case op.QueryTime(target=target):
                found = self.register()
                self._now()
                self.code.emit("NOW", found)
                self.match(target, found, fail)
                return fail
            case op.Lookup():
                return self._lookup(step, fail)
            case op.SpanOperation(literal=literal):
                return self._span_operation(step, literal, fail)
            case op.FactJoin():
                return self._fact(step, needed, fail)
            case op.AntiJoin() if self.nothing_absent and is_temporal(step, self.rules.plan):
                self.code.emit("JMP", fail=fail)
                return fail
            case op.AntiJoin(body=body):
                known = dict(self.env)
                after = self.code.label()
                loops = self.loops
                self.chain(body, after)
                self.code.emit("JMP", fail=fail)
                self.code.here(after)
                self.env, self.loops = known, loops
                return fail
            case op.Union(branches=branches):
                return self._union(branches, needed, fail)
            case op.AggregateOp() if is_temporal(step, self.rules.plan):
                return self._aggregate(step, fail)
            case op.TruthOp(value=value):
                if not value:
                    self.code.emit("JMP", fail=fail)
                return fail
            case op.Unify(left=left, right=right):
                return self._unify(step, left, right, fail)
            case op.Filter(literal=literal):
                return self._filter(step, literal, fail)
            case op.Extend(literal=literal):
                register = self.number(literal.expression, fail, self._without_value(step))
                if register is None:
                    return self._asked(step, needed, fail)
                self.match(literal.target, register, fail)
                return fail
            case _ if not is_temporal(step, self.rules.plan):
                return self._asked(step, needed, fail)
            case op.Procedure():
                return self.call(step.key, step.args, fail)
            case _:
                raise self.refuse(f"{type(step).__name__} over the stream: `{show(step.term)}`")

    def _unify(self, step: op.Unify, left: Term, right: Term, fail: Label) -> Label:
        if not self.is_bound(left):
            left, right = right, left
        if not self.is_bound(left):
            raise self.refuse(f"`{show(step.term)}` with variables on both sides")
        self.match(right, self.load(left, fail), fail)
        return fail

    def _filter(self, step: op.Filter, literal: ec.Compare, fail: Label) -> Label:
        sign = literal.op
        told = self._without_value(step)
        if sign in ("==", "\\==", "\\=") and self.is_bound(literal.left):
            if self.is_bound(literal.right):
                left, right = self.load(literal.left, fail), self.load(literal.right, fail)
                self.code.emit("EQ" if sign == "==" else "NE", left, right, fail=fail)
                return fail
        elif sign in ("<", ">", "=<", ">=", "=:=", "=\\="):
            known = dict(self.env)
            start = self.next
            one, other = self.number(literal.left, fail, told), None
            if one is not None:
                other = self.number(literal.right, fail, told)
            if one is not None and other is not None:
                if sign in (">", ">="):
                    one, other = other, one
                names_ = {"<": "CLT", ">": "CLT", "=<": "CLE", ">=": "CLE", "=:=": "CEQ"}
                self.code.emit(names_.get(sign, "CNE"), one, other, w=told, fail=fail)
                return fail
            self.env, self.next = known, start
        return self._asked(step, frozenset(), fail)

    def _without_value(self, step: op.Filter | op.Extend) -> int:
        """The place of a list that says of what to tell if a condition has no value."""
        told: list[Unvalued] = []
        registers: list[int] = []
        for body, one in ((self, step), *self.alike):
            literal = one.literal
            term = literal.expression if isinstance(literal, ec.Is) else one.term
            known = tuple(sorted(names(term) & body.env.keys()))
            registers += [body.env[name] for name in known]
            told.append(Unvalued(one.term, term, known, body.clause, body.helper))
        place = len(self.code.args)
        self.code.args += [1, len(self.rules.unvalued), len(registers), *registers]
        self.rules.unvalued.append(told)
        return place

    def number(self, term: Term, fail: Label, told: int = 0) -> int | None:
        """The register with the value of an expression; None if it has no instructions.

        `told` is a list for who tells of what has no value.
        """
        match term:
            case Var(name=name):
                return self.env.get(name)
            case Int() | Float():
                return self.load(term, fail)
            case Constant(name=name) if name in CONSTANTS:
                return self.load(number_term(float(CONSTANTS[name])), fail)
            case Compound(name="-", args=(arg,)) | Compound(name="abs", args=(arg,)):
                given = self.number(arg, fail, told)
                if given is None:
                    return None
                found = self.register()
                name = "NEG" if term.name == "-" else "ABS"
                self.code.emit(name, found, given, w=told, fail=fail)
                return found
            case Compound(name=name, args=(arg,)) if name in FUNCTIONS:
                given = self.number(arg, fail, told)
                if given is None:
                    return None
                found = self.register()
                self.code.emit("FUN", found, given, FUNCTIONS.index(name), told, fail)
                return found
            case Compound(name=name, args=(left, right)) if name in ARITHMETIC:
                one, other = self.number(left, fail, told), self.number(right, fail, told)
                if one is None or other is None:
                    return None
                found = self.register()
                self.code.emit(ARITHMETIC[name], found, one, other, told, fail)
                return found
            case _:
                return None

    def _asked(self, step: op.Operator, needed: Names, fail: Label) -> Label:
        free = (names(step.term) & needed) - self.env.keys()
        return self.ask(step, tuple(sorted(free)), fail)

    def ask(
        self,
        step: op.Operator | Pieces,
        found: tuple[str, ...],
        fail: Label,
        more: tuple[str, ...] = (),
    ) -> Label:
        """A question to Python; it may have several answers, which depend on `more`, too."""
        given = (*sorted(names(step.term) & self.env.keys()), *more)
        number = len(self.rules.questions)
        self.rules.questions.append(Question(step, given, found, self.clause, self.helper))
        iterator = self.register(3)
        outs = [self.register() for _ in found]
        words = [len(given), *(self.env[name] for name in given), len(outs), *outs]
        place = self.code.list(words)
        self.code.emit("CALL", iterator, place, number, fail=fail)
        again = self.code.label()
        self.code.here(again)
        self.code.emit("CNEXT", iterator, place, number, fail=fail)
        self.env.update(zip(found, outs, strict=True))
        if not found:
            return fail
        self.loops = True
        return again

    def _union(self, branches: Sequence[op.Chain], needed: Names, fail: Label) -> Label:
        if len(branches) == 1:
            return self.chain(branches[0], fail)
        if not branches:
            self.code.emit("JMP", fail=fail)
            return fail
        common = needed & frozenset.intersection(*(one.bound for one in branches))
        return self.either([partial(self.chain, one) for one in branches], common, fail)

    def either(
        self, alternatives: Sequence[Callable[[Label], Label]], common: Names, fail: Label
    ) -> Label:
        """The solutions of all alternatives; of those variables in common are known after it."""
        known = dict(self.env)
        fresh = {name: self.register() for name in sorted(common - known.keys())}
        resume = self.register()
        joined, again = self.code.label(), self.code.label()
        after = self.code.label()
        for place, alternative in enumerate(alternatives):
            last = place == len(alternatives) - 1
            following = fail if last else self.code.label()
            inner = alternative(following)
            for name, register in fresh.items():
                if name not in self.env:
                    raise self.refuse(f"alternatives that leave {name} open")
                self.code.emit("MOV", register, self.env[name])
            self.code.emit("LDC", resume, inner)
            self.code.emit("JMP", fail=joined)
            if not last:
                self.code.here(following)
            self.env = dict(known)
        self.code.here(again)
        self.code.emit("JMPR", resume)
        self.code.here(joined)
        self.code.here(after)
        self.env.update(fresh)
        self.loops = True
        return again

    def _aggregate(self, step: op.AggregateOp, fail: Label) -> Label:
        """The different solutions of a chain are gathered, and counted or added up.

        Python says what they are together where they have to be listed, or are no whole numbers.
        """
        known, loops = dict(self.env), self.loops
        bag, every, found = self.register(), self.register(), self.register()
        self.code.emit("GROUP", bag)
        self.code.emit("LDC", every, 1)
        done = self.code.label()
        again = self.chain(step.body, done)
        wanted = sorted((step.inner | names(step.template)) & self.env.keys())
        registers = [every, *(self.env[name] for name in wanted)]
        self.code.emit("ADDTO", 0, self.code.list([len(registers), *registers]), fail=again)
        self.code.here(done)
        number = len(self.rules.questions)
        question = Question(step, tuple(wanted), (), self.clause, self.helper)
        self.rules.questions.append(question)
        native = step.kind if step.kind in TOTALS else "other"
        column = 0
        if isinstance(step.template, Var) and step.template.name in wanted:
            column = 1 + wanted.index(step.template.name)
        elif native != "count":
            native = "other"
        width = self.code.list([len(registers), TOTALS.index(native), column])
        self.code.emit("TOTAL", bag, width, number, found, fail=fail)
        self.env, self.loops = known, loops
        self.match(step.result, found, fail)
        return fail

    # --- procedures ------------------------------------------------------------------------------

    def call(self, key: tuple[str, int], args: Sequence[Term], fail: Label) -> Label:
        """A call of rules that look at the stream and may call themselves."""
        bound = frozenset(at for at, arg in enumerate(args) if self.is_bound(arg))
        free = [at for at in range(len(args)) if at not in bound]
        if (key, bound) not in self.procedures:
            self._clauses(key, bound, free)
        entry, place = self.procedures[key, bound]
        given = [self.load(args[at], fail) for at in sorted(bound)]
        outs = [self.register() for _ in free] or [self.register()]
        iterator = self.register(3)
        self.code.emit("PCALL", iterator, entry, self.code.list([place, *given]))
        again = self.code.label()
        self.code.here(again)
        self.code.emit("ANSWER", iterator, self.code.list([len(outs), *outs]), fail=fail)
        for at, out in zip(free, outs, strict=False):
            self.match(args[at], out, again)
        self.loops = True
        return again

    def _clauses(self, key: tuple[str, int], bound: frozenset[int], free: list[int]) -> None:
        """The code of a procedure, for calls from this rule."""
        code, rules = self.code, self.rules
        entry, over = code.label(), code.label()
        low = self.next
        params = {at: self.register() for at in sorted(bound)}
        outs = [self.register() for _ in free] or [self.register()]
        place = len(code.args)
        number = len(rules.called)
        rules.called.append(f"{key[0]}/{key[1]}")
        code.args += [number, low, 0, len(outs), len(params), *params.values()]
        self.procedures[key, bound] = entry, place
        outside = self.env
        code.emit("JMP", fail=over)
        code.here(entry)
        every = [Var(f"#arg{at}") for at in range(key[1])]
        ways: list[tuple[Sequence[Term], Callable[[Label], Label]]] = [
            (branch.head, partial(self.chain, branch.body)) for branch in rules.clauses(key, bound)
        ]
        stated = rules.facts.stated(key)
        if len(stated):
            rows = partial(self.relation_rows, stated, every, sorted(bound), free)
            ways.append((every, rows))
        if key in rules.plan.dynamic:
            ways.append((every, partial(self._member, key, every)))
        for head, way in ways:
            following = code.label()
            self.env = {}
            for at, register in params.items():
                self.match(head[at], register, following)
            again = way(following)
            for at, out in zip(free, outs, strict=False):
                code.emit("MOV", out, self.load(head[at], again))
            code.emit("GIVE", code.list([len(outs), *outs]), fail=again)
            code.here(following)
        code.emit("END")
        code.here(over)
        code.args[place + 2] = self.next
        self.env = outside

    def _member(self, key: tuple[str, int], terms: Sequence[Term], fail: Label) -> Label:
        """A member of a dynamic domain: it has been one from the start of the run on."""
        relation = self.layout.members(key)
        line, fail = self.line(relation, terms, self.site(relation, ANY, -INF, INF), fail)
        start = self.code.constant(2 * self.rules.start + 1)
        self.code.emit("VALUE", line, self.register(), start, fail=fail)
        return fail

    def _worked_out(self, step: op.FactJoin, fail: Label) -> Label:
        """Python works out rules that call themselves, whenever there are other members."""
        for key in sorted(self.rules.plan.dynamic):
            relation = self.layout.members(key)
            self.layout.scattered = True
            buckets = self.layout.index(relation.table, ())
            site = self.layout.site(self.site(relation, ANY, -INF, INF))
            self.code.emit("MOPEN", self.register(3), self.code.list([0]), buckets.number, site)
        self.env[MEMBERS] = self.register()
        self.code.emit("MEMBERS", self.env[MEMBERS])
        found = tuple(sorted(names(step.term) - self.env.keys()))
        return self.ask(step, found, fail, (MEMBERS,))

    # --- facts -----------------------------------------------------------------------------------

    def _fact(self, step: op.FactJoin, needed: Names, fail: Label) -> Label:
        if is_changing(step, self.rules.plan):
            if self.rules.plan.lowering.calls_itself(step.key):
                return self._worked_out(step, fail)
            return self.call(step.key, step.terms, fail)
        bound = [at for at, term in enumerate(step.terms) if self.is_bound(term)]
        free = [at for at in range(len(step.terms)) if at not in bound]
        spoken = [name for at in free for name in names(step.terms[at])]
        wanted = [
            at
            for at in free
            if not isinstance(step.terms[at], Var)
            or names(step.terms[at]) & needed
            or any(spoken.count(name) > 1 for name in names(step.terms[at]))
        ]
        return self.relation_rows(self.rules.facts.rows(step.key), step.terms, bound, wanted, fail)

    def constants_of(self, step: op.FactJoin, needed: Names) -> bool:
        """Bind what the only row of a relation with some constants says, if there is one."""
        if names(step.term) & self.env.keys():
            return False
        found = self.rules.facts.only(step, {})
        for name, word in (found or {}).items():
            if name in needed:
                self.env[name] = self.code.constant(word)
        return found is not None

    def is_one_row(self, step: op.FactJoin, fixed: Sequence[int]) -> bool:
        """Do the other terms that are bound find one row of a relation at most?"""
        if is_changing(step, self.rules.plan):
            return False
        bound = [at for at, t in enumerate(step.terms) if at not in fixed and self.is_bound(t)]
        rows = self.rules.facts.rows(step.key)
        return bool(bound) and self.rules.facts.index(rows, bound, range(rows.shape[1]))[1]

    def relation_rows(
        self,
        rows: Rows,
        terms: Sequence[Term],
        bound: list[int],
        wanted: list[int],
        fail: Label,
    ) -> Label:
        """All rows of a relation that agree with what is bound."""
        found, single = self.rules.facts.index(rows, bound, wanted)
        if single and all(is_ground(terms[at]) for at in bound):
            # A constant of the program.
            key = [self.words.word(terms[at]) for at in bound]
            rows_ = [row for row in found.tolist() if row[: len(bound)] == key]
            if not rows_:
                self.code.emit("JMP", fail=fail)
                rows_ = [[0] * (len(bound) + len(wanted))]
            for at, word in zip(wanted, rows_[0][len(bound) :], strict=True):
                self.match(terms[at], self.code.constant(word), fail)
            return fail
        index = self.rules.put_index(found, len(bound))
        keys = [self.load(terms[at], fail) for at in bound]
        outs = [self.register() for _ in wanted]
        pairs = [n for place, out in enumerate(outs, len(bound)) for n in (place, out)]
        place = self.code.list([len(keys), *keys, len(outs), *pairs])
        if single:
            self.code.emit("FACT", place, index, fail=fail)
        else:
            iterator = self.register(2)
            self.code.emit("FOPEN", iterator, place, index)
            again = self.code.label()
            self.code.here(again)
            self.code.emit("FNEXT", iterator, place, index, fail=fail)
            fail = again
            self.loops = True
        for at, out in zip(wanted, outs, strict=True):
            self.match(terms[at], out, fail)
        return fail

    # --- interval lists as terms -----------------------------------------------------------------

    def _lookup(self, step: op.Lookup, fail: Label) -> Label:
        """The whole interval list of a fluent and value; who is meant is known, or all are."""
        for name in sorted(names(*step.terms) - self.env.keys()):
            fail = self.each_known(name, fail)
        *args, value = step.terms
        word = self.load(value, fail)
        fixed = self.words.word(value) if is_ground(value) else ANY
        lines: list[int] = []
        for relation in self.layout.readable(step.key, value):
            keys = step.terms if relation.keyed else args
            site = self.site(relation, ANY if relation.keyed else fixed, -INF, INF)
            line, fail = self.line(relation, keys, site, fail)
            lines.append(line)
        found = self.register()
        self.code.emit("LISTOF", found, self.code.list([len(lines), *lines]), word)
        self.match(step.result, found, fail)
        return fail

    def each_known(self, name: str, fail: Label) -> Label:
        """Each value that is known of a variable that no condition gives one."""
        if self.known is None:
            raise self.refuse(f"nothing gives a value to {name}")
        relation = self.known(name)
        line, fail = self.line(relation, [Var(name)], self.site(relation, ANY, -INF, INF), fail)
        start = self.code.constant(2 * self.rules.start + 1)
        self.code.emit("VALUE", line, self.register(), start, fail=fail)
        return fail

    def _span_operation(
        self,
        step: op.SpanOperation,
        literal: ec.IntervalOp | ec.DurationFilter | ec.Allen,
        fail: Label,
    ) -> Label:
        """What an operation makes of interval lists; an open one lasts until the query time."""
        more: tuple[str, ...] = ()
        if isinstance(literal, ec.DurationFilter):
            self._now()
            self.env[NOW] = self.register()
            self.code.emit("NOW", self.env[NOW])
            more = (NOW,)
        found = f"#l{self.register()}"
        fail = self.ask(step, (found,), fail, more)
        self.match(literal.result, self.env[found], fail)
        return fail

    def each_interval(self, pieces: Pieces, fail: Label) -> tuple[int, int, Label]:
        """The registers with start and end of each interval of a list, and where to go on."""
        start, end = (f"#{side}{self.register()}" for side in ("from", "to"))
        fail = self.ask(pieces, (start, end), fail)
        return self.env[start], self.env[end], fail

    def between_cuts(self, steps: Sequence[op.Stab], fail: Label) -> tuple[int, Label]:
        """The register with the pieces of time within which some conditions do not change."""
        bag, every, found = self.register(), self.register(), self.register()
        self.code.emit("GROUP", bag)
        self.code.emit("LDC", every, 1)
        for step in steps:
            for relation in self.layout.readable(step.key, step.terms[-1]):
                outside = self.env
                self.env = {}
                done = self.code.label()
                terms = [step.terms[at] for at in relation.keys]
                keys = [t if is_ground(t) else Var(f"#cut{at}") for at, t in enumerate(terms)]
                site = self.site(relation, ANY, -INF, INF)
                line, again = self.line(relation, keys, site, done)
                one = self.register()
                place = self.code.list([1, line])
                self.code.emit("LISTOF", one, place, self.code.constant(ANY))
                self.code.emit("ADDTO", 0, self.code.list([2, every, one]), fail=again)
                self.code.here(done)
                self.env = outside
        number = len(self.rules.questions)
        self.rules.questions.append(Question(Cuts(TRUE), ("#cut",), (), self.clause, self.helper))
        width = self.code.list([2, TOTALS.index("other"), 0])
        self.code.emit("TOTAL", bag, width, number, found, fail=fail)
        return found, fail

    # --- instances -------------------------------------------------------------------------------

    def line(
        self, relation: Relation, keys: Sequence[Term], site: Site | None, fail: Label
    ) -> tuple[int, Label]:
        """The register with the line of an instance, of each one that fits if some key is free."""
        table = relation.table
        own = self.relation is not None and table is self.relation.table
        if own and tuple(keys) == self.keys and all(map(self.is_bound, keys)):
            found = self.register()
            self.code.emit("OWN", found, relation.place)
            if site is not None and self.relation is not None:
                relation.readers.append(
                    (self.relation.place - relation.place + site.shift, self.layout.site(site))
                )
            return found, fail
        if not self.at_start:
            self.layout.joins(self.home, relation, keys, self.level if site else relation.level)
        number = -1 if site is None else self.layout.site(site)
        if all(map(self.is_bound, keys)):
            found = self.register()
            place = self.code.list([len(keys), *(self.load(key, fail) for key in keys)])
            self.code.emit("LINE", found, place, table.number * 4096 + relation.place, number)
            return found, fail
        if site is None:
            raise self.refuse(f"nothing says which {relation} is meant")
        row, again = self.each_row(table, keys, number, fail)
        found = self.register()
        self.code.emit("SHIFT", found, row, relation.place)
        return found, again

    def each_row(
        self, table: Table, keys: Sequence[Term], site: int, fail: Label
    ) -> tuple[int, Label]:
        """All rows of a table that fit what is known of their keys; the register of each."""
        bound = tuple(at for at, key in enumerate(keys) if self.is_bound(key))
        free = [at for at in range(len(keys)) if at not in bound]
        self.layout.looks_up(self.home, table, keys)
        buckets = self.layout.index(table, bound)
        place = self.code.list([len(bound), *(self.load(keys[at], fail) for at in bound)])
        iterator = self.register(3)
        self.code.emit("MOPEN", iterator, place, buckets.number, site)
        outs = [self.register() for _ in free]
        pairs = [n for at, out in zip(free, outs, strict=True) for n in (at, out)]
        again = self.code.label()
        self.code.here(again)
        self.code.emit("MNEXT", iterator, self.code.list([len(free), *pairs]), fail=fail)
        for at, out in zip(free, outs, strict=True):
            self.match(keys[at], out, again)
        self.loops = True
        return iterator + 2, again

    def site(self, relation: Relation, value: int, low: int, high: int) -> Site:
        """A reading of this rule."""
        if self.relation is None:
            return Site(relation, TO_ROW, value)
        found = Site(relation, 0, value, self.level, self.mask, low, high)
        found.driver = self.relation
        return found

    def _offsets(self, time: Term) -> tuple[int, int]:
        if isinstance(time, Var) and time.name in self.before:
            return self.before[time.name], self.before[time.name]
        return (0, 0) if time == self.time else (-INF, INF)

    def _stab(self, step: op.Stab, fail: Label) -> Label:
        code = self._stab_line if self.is_bound(step.time) else self._walk_line
        return self._each(self.layout.readable(step.key, step.terms[-1]), step, fail, code)

    def _stab_line(self, relation: Relation, step: op.Stab, fail: Label) -> Label:
        *args, value = step.terms
        low, high = self._offsets(step.time)
        fixed = self.words.word(value) if is_ground(value) else ANY
        time = self.load(step.time, fail)
        if relation.keyed:
            line, fail = self.line(relation, step.terms, self.site(relation, ANY, low, high), fail)
            self.code.emit("VALUE", line, self.register(), time, fail=fail)
            return fail
        line, fail = self.line(relation, args, self.site(relation, fixed, low, high), fail)
        if relation.kind == "static":
            assert relation.value is not None
            held = self.load(relation.value, fail)
            self.code.emit("HOLDS", line, held, time, fail=fail)
            self.match(value, held, fail)
        elif self.is_bound(value):
            self.code.emit("HOLDS", line, self.load(value, fail), time, fail=fail)
        else:
            found = self.register()
            self.code.emit("VALUE", line, found, time, fail=fail)
            self.match(value, found, fail)
        return fail

    def _walk_line(self, relation: Relation, step: op.Stab, fail: Label) -> Label:
        """Every time-point at which a fluent holds, until the query time."""
        self._now()
        *args, value = step.terms
        keys = step.terms if relation.keyed else args
        line, fail = self.line(relation, keys, self.site(relation, ANY, -INF, INF), fail)
        iterator, time, held = self.register(2), self.register(), self.register()
        self.code.emit("WOPEN", iterator, line)
        again = self.code.label()
        self.code.here(again)
        self.code.emit("WNEXT", iterator, time, held, fail=fail)
        self.match(value, held, again)
        self.match(step.time, time, again)
        self.loops = True
        return again

    def _now(self) -> None:
        """Whoever drives this rule is asked again at every query time."""
        relation = self.layout.now()
        line = relation.table.number * 4096 + relation.place
        site = self.layout.site(self.site(relation, ANY, -INF, INF))
        self.code.emit("LINE", self.register(), self.code.list([0]), line, site)

    def _each(
        self,
        relations: Sequence[Relation],
        step: Step,
        fail: Label,
        code: Callable[[Relation, Step, Label], Label],
    ) -> Label:
        """The solutions of a condition about each of some columns."""
        if len(relations) == 1:
            return code(relations[0], step, fail)
        new = sorted(names(step.term) - self.env.keys())
        if not relations:
            self.code.emit("JMP", fail=fail)
            self.env.update((name, self.register()) for name in new)
            return fail
        alternatives = [partial(code, relation, step) for relation in relations]
        return self.either(alternatives, frozenset(new), fail)

    def _scan(self, step: op.Scan, fail: Label) -> Label:
        if step.kind == "event":
            return self._scan_line(self.layout.event(step.key), step, fail)
        parts = self.parts_of(step.kind, step.key, step.terms[-1])
        return self._each(parts, step, fail, self._scan_line)

    def _scan_line(self, relation: Relation, step: op.Scan, fail: Label) -> Label:
        terms = step.terms
        if len(relation.keys) + len(relation.rest) > len(terms):
            terms = (*terms, terms[-1])  # the value of an input is in its key, too
        low_reg, high_reg, low, high = self._range(step, fail)
        keys = [terms[at] for at in relation.keys]
        if relation in self.layout.moments and is_asked_by_time(step, keys, self.is_bound):
            relation, terms = self.layout.moments[relation], (*terms, step.time)
            keys = [step.time]
            self.layout.gathered.add(self.level)
        site = self.site(relation, ANY, low, high)
        line, fail = self.line(relation, keys, site, fail)
        iterator = self.register(3)
        self.code.emit("POPEN", iterator, line, self.code.list([low_reg, high_reg]))
        again = self.code.label()
        self.code.here(again)
        at = self.register()
        outs = [self.register() for _ in relation.rest]
        pairs = [n for place, out in enumerate(outs) for n in (place, out)]
        self.code.emit("PNEXT", iterator, self.code.list([at, len(outs), *pairs]), fail=fail)
        self.match(step.time, at, again)
        self.in_range(step.within, at, again)
        if step.kind in ("initiated", "terminated"):
            again = self.value_of_point(step.kind, step.key, terms, outs[0], again)
        else:
            for place, out in zip(relation.rest, outs, strict=True):
                self.match(terms[place], out, again)
        self.loops = True
        return again

    def in_range(self, bounds: tuple[Term, Term] | None, time: int, fail: Label) -> None:
        """Go on if a time is in a range T1 =< T < T2; what has no value is no limit."""
        for place, bound in enumerate(bounds or ()):
            if not self.is_bound(bound):
                continue
            limit = self.number(bound, fail)
            if limit is None:
                raise self.refuse(f"the range of times `{show(bound)}`")
            self.code.emit("INT", limit, fail=fail)
            low, high = (limit, time) if place == 0 else (time, limit)
            self.code.emit("CLE" if place == 0 else "CLT", low, high, fail=fail)

    def parts_of(self, kind: str, key: tuple[str, int], value: Term) -> list[Relation]:
        """The events that a condition about points of a fluent looks at."""
        if kind in ("initiated", "terminated"):  # no rule begins lists, whatever their value
            found = [one for one in self.layout.fluent(key) if one.kind == "simple"]
        else:
            found = self.layout.readable(key, value)
        return [self.layout.part(one, kind) for one in found]

    def _range(self, step: op.Scan, fail: Label) -> tuple[int, int, int, int]:
        """Registers with the first and last time to look at, and whom changes concern."""
        if self.is_bound(step.time):
            found = self.load(step.time, fail)
            return found, found, *self._offsets(step.time)
        low, high = self.register(), self.register()
        self.code.emit("LDC", low, 2 * self.rules.start + 1)
        self.code.emit("LDC", high, FAR)
        first, last = -INF, INF
        for bound in step.bounds:
            given = self.number(bound.term, fail)
            if given is None:
                continue
            apart = self._apart(bound.term)
            if bound.lower:
                self.code.emit("MAX", low, low, given, fail=fail)
                if apart is not None:
                    last = min(last, -apart)
            else:
                self.code.emit("MIN", high, high, given, fail=fail)
                if apart is not None:
                    first = max(first, -apart)
        return low, high, first, last

    def _apart(self, term: Term) -> int | None:
        """How much later than the driver a time is, if that is always the same."""
        match term:
            case Var() if term == self.time:
                return 0
            case Compound(name="+", args=(Var() as base, Int(value=value))) if base == self.time:
                return value
            case _:
                return None


def is_asked_by_time(step: op.Scan, keys: Sequence[Term], is_bound: Callable[[Term], bool]) -> bool:
    """Is the time all that is known of an event?"""
    return step.kind == "event" and is_bound(step.time) and not any(map(is_bound, keys))


def by_value(plan: Plan, key: tuple[str, int]) -> bool:
    """Does a grounding speak of values of a fluent?"""
    return any(one.value is not None for one in plan.groundings.get(key, ()))


def ends_all(plan: Plan, key: tuple[str, int]) -> bool:
    """May a rule end whatever value a fluent has?"""
    return any(
        point.key == key and point.open_value for stratum in plan.strata for point in stratum.points
    )


def may_begin(plan: Plan, key: tuple[str, int], value: Term) -> bool:
    """May a rule begin this value of the fluent?"""
    for stratum in plan.strata:
        begun = [
            one.terms[-1]
            for one in (*stratum.points, *stratum.initially)
            if one.key == key and one.kind in ("initiated", "initially")
        ]
        begun += [
            one.target[-1] for one in stratum.delays if one.target_key == key and one.initiates
        ]
        if any(may_match(one, value) for one in begun):
            return True
    return False
