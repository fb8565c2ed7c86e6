"""The meaning of `clockwork`, word by word and without haste."""

from __future__ import annotations

from dataclasses import dataclass, field

Pair = tuple[int, int]
ANY = -1


@dataclass(frozen=True)
class Candidate:
    """A point; `kind` is 0 initiation, 1 termination, 2 ghost."""

    time: int
    pair: Pair
    kind: int
    guards: tuple[tuple[Pair, bool], ...] = ()


@dataclass(frozen=True)
class Effect:
    """What an initiation of the origin does later."""

    origin: Pair
    rule: int
    delay: int
    kind: int
    target: Pair
    postponable: bool


@dataclass
class Case:
    """A whole run."""

    fluents: int
    tick: int
    start: int
    query: int
    candidates: list[Candidate]
    effects: list[Effect]
    held: dict[int, tuple[int, int]]  # fluent: value and start of the span
    attempts: list[tuple[int, int]] = field(default_factory=list)  # effect and time of initiation
    acted: dict[int, int] = field(default_factory=dict)


class Unsettled(Exception):
    """Effects that act if, and only if, they do not."""


class Reference:
    """All points of the past are kept, every question goes through all of them."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.said: dict[int, set[tuple[int, int, int]]] = {}  # time: kind, fluent, value
        self.attempts = set(case.attempts)
        self.acts: set[tuple[int, int]] = set()
        self.before = {(effect, t) for effect, t in case.acted.items()}
        self.met: set[int] = set()
        self.held = dict(case.held)
        self.spans: list[tuple[int, int, int, int | None]] = []
        for cell in range(case.start - case.start % case.tick, case.query + 1, case.tick):
            self.settle(cell)
        self.spans += [(f, v, since, None) for f, (v, since) in self.held.items()]
        self.spans.sort(key=lambda span: (span[0], span[2]))

    def settle(self, cell: int) -> None:
        case, before = self.case, {f: v for f, (v, _) in self.held.items()}
        running: set[Pair] = set(before.items())
        for t in range(cell, cell + case.tick):
            if not case.start < t <= case.query:
                continue
            self.settle_moment(t, before)
            begun = {(f, v) for kind, f, v in self.said[t] if kind == 0}
            running = {p for p in running | begun if not self.broken(p, t)}
        for f in range(case.fluents):
            after = [v for g, v in running if g == f]
            assert len(after) <= 1
            if before.get(f) != (after[0] if after else None):
                if f in self.held:
                    self.spans.append((f, *self.held.pop(f), cell + case.tick))
                if after:
                    self.held[f] = (after[0], cell + case.tick)

    def settle_moment(self, t: int, values: dict[int, int]) -> None:
        said: set[tuple[int, int, int]] = set()
        for i, c in enumerate(self.case.candidates):
            if c.time == t and all((values.get(f) == v) == yes for (f, v), yes in c.guards):
                self.met.add(i)
                said.add((c.kind, *c.pair))
        self.said[t] = said
        acting: set[int] = set()
        for _ in range(40):
            found = {e for e, since in self.attempts if self.succeeds(e, since, t)}
            if found == acting:
                break
            acting = found
            effects = [self.case.effects[e] for e in acting]
            self.said[t] = said | {(effect.kind, *effect.target) for effect in effects}
        else:
            raise Unsettled(t)
        self.acts |= {(e, t) for e in acting}
        for e, effect in enumerate(self.case.effects):
            if (0, *effect.origin) in self.said[t]:
                self.attempts.add((e, t))

    def broken(self, pair: Pair, t: int) -> bool:
        fluent, value = pair
        return any(
            f == fluent and (v in (value, ANY) if kind == 1 else v != value)
            for kind, f, v in self.said.get(t, ())
        )

    def succeeds(self, e: int, since: int, t: int) -> bool:
        effect = self.case.effects[e]
        if since + effect.delay != t:
            return False
        if any(self.broken(effect.origin, p) for p in range(since + 1, t)):
            return False
        if effect.postponable:
            later = range(since + 1, t + 1)
            return not any((0, *effect.origin) in self.said.get(p, ()) for p in later)
        return not any(
            since < acted < t
            and self.case.effects[other].rule == effect.rule
            and self.case.effects[other].origin == effect.origin
            for other, acted in self.acts | self.before
        )
