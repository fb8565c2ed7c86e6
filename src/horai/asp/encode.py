"""Plain LARS to rules of an answer set program, as text and the names that it needs.

Windows over signals are predicates of their own (`_w0`, ...), whose atoms come from `views` as
facts or externals. Windows over derived atoms are rules over time-pinned atoms (`_at_p`), and only
the points they cover (`_span0`, ...) come from outside. A fresh clingo reads all facts every time,
so they are short.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from clingo import String

from horai.asp.symbols import (
    COMPARISONS,
    FUNCTIONS,
    LARGEST,
    ModelMemory,
    PredicateNames,
    is_name,
    is_tame,
    to_symbol,
)
from horai.asp.windows import ViewKey
from horai.lang.core.terms import (
    Compound,
    Int,
    ListTerm,
    Term,
    Var,
    is_anonymous,
    is_ground,
    subterms,
)
from horai.lang.lars.predicates import ARITHMETIC, is_computed
from horai.lang.lars.syntax import (
    Atom,
    Comparison,
    Pattern,
    Predicate,
    Rule,
    Sign,
)
from horai.lang.lars.windows import ByTime
from horai.plan.lars.fragments import NotServed
from horai.plan.lars.normal import (
    WITHOUT_MODALITY,
    Chain,
    Choosing,
    ExtendedAtom,
    Headed,
    Literal,
    PlainProgram,
    PlainRule,
    Total,
    names_of,
)

_VARIABLE = re.compile(r"[A-Z][A-Za-z0-9_']*")
_MIRRORED: dict[Sign, Sign] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Kinds:
    """Whether all values are small whole numbers, and whether there are decimals or large ones."""

    def __init__(self, program: PlainProgram) -> None:
        self.is_numeric = True
        self.has_decimals = False
        self.learn(program.facts)
        for rule in program.rules:
            for term in rule.terms():
                self._look(term)
        self.states_decimals = self.has_decimals
        """Whether the program itself has them, so that no stream is needed to see that."""

    @property
    def found(self) -> tuple[bool, bool]:
        """All that an encoding depends on."""
        return self.is_numeric, self.has_decimals

    def learn(self, atoms: Iterable[Atom]) -> None:
        """Take note of signals."""
        for atom in atoms:
            for arg in atom.args:
                self._look(arg)

    def outgrow(self) -> None:
        """Take note that values are computed which are not small."""
        self.is_numeric = False
        self.has_decimals = True

    def _look(self, term: Term) -> None:
        if not is_tame(term):
            self.outgrow()
        elif not all(map(_is_numeric, subterms(term))):
            self.is_numeric = False


def _is_numeric(term: Term) -> bool:
    return isinstance(term, Int | Var) or (isinstance(term, Compound) and term.name in ARITHMETIC)


class Writer:
    """Writes parts of rules, for the kinds of values that there are.

    Where all are small whole numbers clingo can compare by itself, which is faster; otherwise it
    asks for every comparison, as it does for every operation: it would not notice large results.
    Aggregates are refused where the program states decimals, elsewhere once one has come to them.
    """

    def __init__(self, names: PredicateNames, kinds: Kinds) -> None:
        self.names = names
        self.kinds = kinds
        self.counts = False
        """Whether every operation is counted: those of recursive rules might never end."""

    # --- terms and atoms ---

    def term(self, term: Term) -> str:
        """A term; expressions are computed."""
        match term:
            case Var(name=name):
                return _variable(term, name)
            case Compound(name=sign, args=args) if sign in ARITHMETIC:
                return self.expression(sign, args)
            case Compound(name=name, args=args) if not is_ground(term) or is_computed(term):
                inner = ",".join(self.term(arg) for arg in args)
                text = f"{name}({inner})" if is_name(name) else f"_applied({_text(name)},{inner})"
                return f"@counted({text})" if self.counts else text
            case ListTerm():
                raise AssertionError("LARS has no lists")
            case _:
                return str(to_symbol(term))

    def expression(self, sign: str, args: Sequence[Term]) -> str:
        """An arithmetic expression."""
        inner = [self.term(arg) for arg in args]
        text = f"@{FUNCTIONS[sign]}({','.join(inner)})"
        return f"@counted({text})" if self.counts else text

    def atom(self, atom: Atom) -> str:
        """An atom at the current time."""
        return self.applied(self.names.now(atom.name), atom.args)

    def pinned(self, atom: Atom, time: Term) -> str:
        """An atom at a time."""
        return self.applied(self.names.at(atom.name), (*atom.args, time))

    def helper(self, name: str, atom: Atom, time: Term | None) -> str:
        """The predicate of a window, with the arguments of an atom."""
        return self.applied(name, atom.args if time is None else (*atom.args, time))

    def applied(self, name: str, args: Sequence[Term]) -> str:
        """A name with arguments."""
        return f"{name}({','.join(map(self.term, args))})" if args else name

    # --- comparisons and aggregates ---

    def comparison(self, formula: Comparison) -> str:
        """A comparison."""
        left, right = self.term(formula.left), self.term(formula.right)
        if formula.sign in COMPARISONS and not self.kinds.is_numeric:
            return f"@{COMPARISONS[formula.sign]}({left},{right}) = 1"
        return f"{left} {formula.sign} {right}"

    def measure(
        self,
        measure: Total,
        rows: Sequence[tuple[tuple[Term, ...], list[str]]],
        negated: bool,
        rule: PlainRule,
        total: str,
    ) -> str:
        """An aggregate, given its rows with their conditions as text, and a term that names it."""
        function = measure.function
        bound = self.term(measure.bound)
        sign = _MIRRORED.get(measure.sign, measure.sign)
        guard = ""
        if sign in COMPARISONS and not self.kinds.is_numeric and not isinstance(measure.bound, Int):
            # For clingo names are larger than all numbers; here they are not compared.
            if self.kinds.states_decimals:
                reason = f"{function} compared with what may be a decimal or a very large number"
                raise NotServed(reason, rule.origin)
            if negated:
                raise NotServed(f"`not` before {function} with what may be no number", rule.origin)
            guard = f", @is_whole({bound}) = 1"
        if function == "count":
            text = f"{bound} {sign} #count {{ {self.rows(rows)} }}{guard}"
            return f"not {text}" if negated else text
        if self.kinds.states_decimals:
            raise NotServed(
                f"{function} where there are decimals or very large numbers", rule.origin
            )
        if function == "sum" or self.kinds.has_decimals:
            weigh = f"@weigh({total}," if function == "sum" else "@weigh("
            rows = [
                (terms, [*condition, f"{weigh}{self.term(terms[0])}) = 1"])
                if terms
                else (terms, condition)
                for terms, condition in rows
            ]
        # Nothing has no least and no largest one, where clingo would say it is #sup or #inf.
        limit = {"min": " < #sup", "max": " > #inf"}.get(function, "")
        text = f"{bound} {sign} #{function} {{ {self.rows(rows)} }}{limit}"
        if self.kinds.is_numeric:
            return f"not {text}" if negated else text
        if negated:
            raise NotServed(f"`not` before {function} of what may be no numbers", rule.origin)
        others = [
            (terms, [*condition, f"@is_number({self.term(terms[0])}) = 0"])
            for terms, condition in rows
        ]
        return f"{text}, 0 = #count {{ {self.rows(others)} }}{guard}"

    def rows(self, rows: Sequence[tuple[tuple[Term, ...], list[str]]]) -> str:
        """The elements of an aggregate."""
        return " ; ".join(
            f"{','.join(map(self.term, terms))} : {', '.join(condition)}"
            for terms, condition in rows
        )


def _variable(term: Var, name: str) -> str:
    if is_anonymous(term):
        return "_"
    if _VARIABLE.fullmatch(name):
        return name
    # Letters that clingo does not read become numbers, between primes that no other name has.
    return "V'" + "".join(c if c.isascii() and c.isalnum() else f"'{ord(c)}'" for c in name)


def _text(name: str) -> str:
    return str(String(name))


@dataclass(slots=True)
class Encoding:
    """The rules as text, and the names of all that has to be added to them."""

    writer: Writer
    signalled: frozenset[Predicate]
    rules: list[str] = field(default_factory=list)
    whole: str | None = None
    """All rules as one text, once they are asked for."""
    views: dict[ViewKey, str] = field(default_factory=dict)
    spans: dict[Chain, str] = field(default_factory=dict)
    shown: dict[str, tuple[Predicate, bool]] = field(default_factory=dict)
    """Predicates of answers: what they stand for, and whether their last argument is a time."""
    memory: ModelMemory = field(default_factory=ModelMemory)
    """The atoms that were read from models."""
    has_times: bool = False
    """Whether answers show atoms at other times than the current one."""
    occurrences: dict[ViewKey, list[tuple[PlainRule, Atom]]] = field(default_factory=dict)
    """Where windows over signals are asked for."""
    is_timeless: bool = True
    """Whether no rule mentions a time point, so that the rules are the same at all times."""

    def feeding(self) -> str:
        """Rules that ask for what windows hold."""
        lines: list[str] = []
        for number, (key, name) in enumerate(self.views.items()):
            arity = key.predicate[1] + (key.modality == "at")
            args = "".join(f"X{place}," for place in range(arity))
            head = f"{name}({args[:-1]})" if args else name
            lines.append(f"{head} :- ({args or ','}) = @held({number}).")
        return "\n".join(lines)

    @property
    def names(self) -> PredicateNames:
        """The names of predicates."""
        return self.writer.names

    def text(self) -> str:
        """The rules, and which atoms to show."""
        if self.whole is None:
            self.whole = "\n".join(self.rules)
        return self.whole


def fact_lines(facts: Iterable[Atom], writer: Writer) -> Iterator[str]:
    """One line per fact; numbers that follow each other are one."""
    numbers: dict[str, list[int]] = {}
    for fact in facts:
        match fact.args:
            case (Int(value=value),) if abs(value) < LARGEST:
                numbers.setdefault(writer.names.now(fact.name), []).append(value)
            case _:
                yield f"{writer.atom(fact)}."
    for name, values in numbers.items():
        for first, last in in_a_row(values):
            yield f"{name}({first})." if first == last else f"{name}({first}..{last})."


def in_a_row(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """The first and last of numbers that follow each other.

    >>> in_a_row([3, 1, 2, 7])
    [(1, 3), (7, 7)]
    """
    found: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


ALL: Chain = ()
NOW: Chain = (ByTime(0, 1, 0),)
MOST = 2**31 - 1  # the largest number that clingo has


class Encoder:
    """Writes the rules. `signalled` are predicates with facts or rules that have signals, too."""

    def __init__(
        self, program: PlainProgram, signalled: frozenset[Predicate], writer: Writer
    ) -> None:
        self.program = program
        self.signalled = signalled & program.defined
        self.write = writer
        self.result = Encoding(writer, self.signalled)
        self.pinned: set[Predicate] = set()
        self.measures = 0
        self.timed = {h.atom.predicate for r in program.rules for h in r.heads() if h.time}

    def encode(self) -> Encoding:
        """The whole program."""
        rules = self.result.rules
        rules.extend(fact_lines(self.program.facts, self.write))
        for rule in self.program.rules:
            rules.append(self.rule(rule))
        for predicate in sorted(self.signalled):
            self.take_in(predicate)
        for predicate in sorted(self.timed | self.pinned):
            self.pin(predicate)
        self.show()
        return self.result

    # --- rules ---

    def rule(self, rule: PlainRule) -> str:
        """A rule as text."""
        self.current = rule
        self.write.counts = self.program.is_recursive(rule)
        if isinstance(rule.head, Choosing):
            head = self.choice(rule.head)
            guards: list[str] = []
        else:
            head = " ; ".join(self.headed(part) for part in rule.head)
            guards = [guard for part in rule.head for guard in self.on_timeline(part)]
        body = [*(self.condition(part) for part in rule.body), *guards]
        return f"{head} :- {', '.join(body) or '#true'}."

    def headed(self, head: Headed) -> str:
        """An atom of a head."""
        if head.time is None:
            return self.write.atom(head.atom)
        self.pinned.add(head.atom.predicate)
        return self.write.pinned(head.atom, head.time)

    def on_timeline(self, head: Headed) -> list[str]:
        """A head speaks of points of the timeline: with another time there is no instance."""
        if head.time is None:
            return []
        self.result.is_timeless = False
        time = self.write.term(head.time)
        if self.write.kinds.has_decimals:
            return [f"_start(Start'), @on_time({time},Start') = 1"]
        # All that is no number is larger than every number.
        return [f"_start(Start'), Start' <= {time} <= {MOST}"]

    def choice(self, head: Choosing) -> str:
        """A choice between options."""
        options: list[str] = []
        for pick in head.picks:
            parts = [*map(self.condition, pick.condition), *self.on_timeline(pick.head)]
            options.append(f"{self.headed(pick.head)} : {', '.join(parts)}")
        least = "" if head.least is None else self.write.term(head.least)
        most = "" if head.most is None else self.write.term(head.most)
        return f"{least} {{ {' ; '.join(options)} }} {most}".strip()

    def condition(self, condition: Literal) -> str:
        """A part of a body."""
        element = condition.element
        negated = "not " if condition.negated else ""
        if isinstance(element, Comparison):
            return negated + self.write.comparison(element)
        if isinstance(element, Total):
            rows = [
                (row.terms, [self.condition(part) for part in row.body]) for row in element.rows
            ]
            total = self.total(element)
            return self.write.measure(element, rows, condition.negated, self.current, total)
        return negated + self.extended(element)

    def total(self, measure: Total) -> str:
        """A term for what an aggregate comes to: one for each of the values it depends on."""
        rule = self.current
        others = [c for c in rule.body if c.element is not measure]
        outside = names_of(term for part in others for term in part.own_terms)
        inside = names_of(
            term for row in measure.rows for part in row.body for term in part.own_terms
        )
        self.measures += 1
        shared = ",".join(self.write.term(Var(name)) for name in sorted(outside & inside))
        return f"_total({self.measures}{',' if shared else ''}{shared})"

    # --- extended atoms ---

    def extended(self, element: ExtendedAtom) -> str:
        """An ordinary atom, @-atom or window atom."""
        predicate = element.atom.predicate
        is_ordinary = element.modality == "now"
        if is_ordinary and element.windows:
            raise NotServed(WITHOUT_MODALITY, self.current.origin, element.atom.span)
        if predicate in self.program.background:
            if is_ordinary:
                return self.write.atom(element.atom)
            reason = f"the background predicate {predicate[0]} under a window or at a time"
            raise NotServed(reason, self.current.origin, element.atom.span)
        if is_ordinary:
            if predicate in self.program.derived:
                return self.write.atom(element.atom)
            return self.view(ViewKey(NOW, "some", predicate), element.atom, None)
        if element.counts or predicate not in self.program.derived:
            key = ViewKey(element.windows, element.modality, predicate)
            return self.view(key, element.atom, element.time)
        return self.over_derived(element)

    def view(self, key: ViewKey, atom: Atom, time: Term | None) -> str:
        """A window over signals."""
        name = self.result.views.setdefault(key, f"_w{len(self.result.views)}")
        self.result.occurrences.setdefault(key, []).append((self.current, atom))
        if time is not None:
            self.result.is_timeless = False
        return self.write.helper(name, atom, time)

    def over_derived(self, element: ExtendedAtom) -> str:
        """A window over atoms that rules derive."""
        predicate = element.atom.predicate
        if element.modality == "some" and self.is_only_now(predicate, element.windows):
            return self.write.atom(element.atom)
        self.result.is_timeless = False
        self.pinned.add(predicate)
        if not element.windows and element.modality == "at":
            assert element.time is not None
            return self.write.pinned(element.atom, element.time)
        span = self.result.spans.setdefault(element.windows, f"_span{len(self.result.spans)}")
        name = f"_{element.modality}{span[5:]}_{self.write.names.now(predicate[0])}"
        for args in selected(element.windows, predicate):
            rule = self.window_rule(element, Atom(predicate[0], args), span, name)
            if rule not in self.result.rules:
                self.result.rules.append(rule)
        return self.write.helper(name, element.atom, element.time)

    def is_only_now(self, predicate: Predicate, windows: Chain) -> bool:
        """Whether a predicate can hold at the current time only, and windows contain that time."""
        sliding = all(
            isinstance(window, ByTime)
            and window.is_sliding
            and window.future >= 0
            and window.past >= 0
            for window in windows
        )
        return sliding and predicate not in self.timed | self.signalled

    def window_rule(self, element: ExtendedAtom, atom: Atom, span: str, name: str) -> str:
        """When a window atom over derived atoms holds."""
        moment = Var("Time'")
        inside = f"{span}(First',Last')"
        pinned = self.write.pinned(atom, moment)
        is_far = self.write.kinds.has_decimals  # then times may be, and clingo cannot count on them
        if element.modality == "always":
            # Not by way of `not`: that holds at all points is a positive condition, and atoms that
            # rest on each other through it have no other reason to hold.
            last = self.write.pinned(atom, Var("Last'"))
            points = "@points(First',Last')" if is_far else "First'..Last'"
            body = f"{inside}, {last}, {pinned} : Time' = {points}"
            return f"{self.write.helper(name, atom, None)} :- {body}."
        time = moment if element.modality == "at" else None
        covered = "@covers(First',Last',Time') = 1" if is_far else "First' <= Time', Time' <= Last'"
        return f"{self.write.helper(name, atom, time)} :- {inside}, {pinned}, {covered}."

    # --- atoms at times ---

    def pin(self, predicate: Predicate) -> None:
        """Rules: atoms that hold now hold at the current time, and the other way round."""
        atom = _open(predicate)
        now = self.write.pinned(atom, Var("Now'"))
        self.result.rules.append(f"{now} :- _now(Now'), {self.write.atom(atom)}.")
        self.result.rules.append(f"{self.write.atom(atom)} :- _now(Now'), {now}.")

    def take_in(self, predicate: Predicate) -> None:
        """Signals of a predicate that rules derive as well."""
        atom = _open(predicate)
        self.current = PlainRule((Headed(atom),), (), Rule(atom))
        if predicate in self.timed | self.pinned:
            moment = Var("Time'")
            signal = self.view(ViewKey(ALL, "at", predicate), atom, moment)
            self.result.rules.append(f"{self.write.pinned(atom, moment)} :- {signal}.")
        signal = self.view(ViewKey(NOW, "some", predicate), atom, None)
        self.result.rules.append(f"{self.write.atom(atom)} :- {signal}.")

    def show(self) -> None:
        """Answers show what rules derive."""
        self.result.rules.append("#show.")
        for name, arity in sorted(self.program.derived):
            shown = self.write.names.now(name)
            self.result.shown[f"{shown}/{arity}"] = ((name, arity), False)
            self.result.rules.append(f"#show {shown}/{arity}.")
            if (name, arity) in self.timed | self.signalled:
                pinned = f"{self.write.names.at(name)}/{arity + 1}"
                self.result.has_times = True
                self.result.shown[pinned] = ((name, arity), True)
                self.result.rules.append(f"#show {pinned}.")


def _open(predicate: Predicate) -> Atom:
    return Atom(predicate[0], tuple(Var(f"X{place}'") for place in range(predicate[1])))


def selected(windows: Chain, predicate: Predicate) -> list[tuple[Term, ...]]:
    """The arguments of atoms that filters among the windows let through."""
    found = [_open(predicate).args]
    for window in windows:
        assert isinstance(window, ByTime)
        if window.patterns is not None:
            narrowed = [_narrowed(args, p, predicate) for p in window.patterns for args in found]
            found = [args for args in narrowed if args is not None]
    return found


def _narrowed(
    args: tuple[Term, ...], pattern: Pattern, predicate: Predicate
) -> tuple[Term, ...] | None:
    """The arguments as far as a pattern lets them through."""
    if pattern.name != predicate[0]:
        return None
    if pattern.args is None:
        return args
    if len(pattern.args) != len(args):
        return None
    found: list[Term] = []
    for wanted, given in zip(pattern.args, args, strict=True):
        if isinstance(wanted, Var):
            found.append(given)
        elif isinstance(given, Var) or given == wanted:
            found.append(wanted)
        else:
            return None
    return tuple(found)
