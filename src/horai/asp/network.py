"""A network of justifications: rules, and what is believed about their atoms.

Atoms are numbers. Labels, supports and consequences are those of the literature; all that is
recursive there runs on stacks here.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple


class Label(Enum):
    """What is believed about an atom; unknown only during an update."""

    IN = "in"
    OUT = "out"
    UNKNOWN = "unknown"


IN, OUT, UNKNOWN = Label.IN, Label.OUT, Label.UNKNOWN


class Justification(NamedTuple):
    """The rule `head :- positive, not negative`."""

    head: int
    positive: tuple[int, ...] = ()
    negative: tuple[int, ...] = ()


NO_SPOILER = -1  # no atom


class Network:
    """Rules with the labels of their atoms. Nothing here mends labels that rules contradict."""

    def __init__(self) -> None:
        self.label: dict[int, Label] = {}
        self.rules: dict[int, dict[Justification, None]] = {}
        """The rules by their head."""
        self.occurs: dict[int, int] = {}
        """In how many places of rules an atom stands."""
        self.consequences: dict[int, dict[int, int]] = {}
        """The heads of rules with an atom in the body, with the number of such rules."""
        self.support: dict[int, set[int]] = {}
        self.by_rule: dict[int, Justification | None] = {}
        """The rule that an atom is in by."""
        self.members: set[int] = set()
        """The atoms that are in."""

    # --- rules come and go ---

    def register(self, rule: Justification) -> None:
        """Take a rule in; atoms that are new are out."""
        head, positive, negative = rule
        for atom in (head, *positive, *negative):
            if atom not in self.label:
                self.label[atom] = OUT
                self.rules[atom] = {}
                self.occurs[atom] = 0
                self.consequences[atom] = {}
                self.support[atom] = set()
                self.by_rule[atom] = None
            self.occurs[atom] += 1
        for atom in (*positive, *negative):
            heads = self.consequences[atom]
            heads[head] = heads.get(head, 0) + 1
        self.rules[head][rule] = None

    def deregister(self, rule: Justification) -> None:
        """Take a rule out, and atoms that no rule speaks of any more."""
        head, positive, negative = rule
        del self.rules[head][rule]
        for atom in (*positive, *negative):
            heads = self.consequences[atom]
            heads[head] -= 1
            if not heads[head]:
                del heads[head]
        for atom in (head, *positive, *negative):
            self.occurs[atom] -= 1
            if not self.occurs[atom]:
                self.members.discard(atom)
                del self.label[atom], self.rules[atom], self.occurs[atom]
                del self.consequences[atom], self.support[atom], self.by_rule[atom]

    # --- what rules say under the labels ---

    def is_valid(self, rule: Justification) -> bool:
        """The whole body holds."""
        label = self.label
        return all(label[a] is IN for a in rule.positive) and all(
            label[a] is OUT for a in rule.negative
        )

    def is_invalid(self, rule: Justification) -> bool:
        """Part of the body does not hold, whatever becomes of unknown atoms."""
        label = self.label
        return any(label[a] is OUT for a in rule.positive) or any(
            label[a] is IN for a in rule.negative
        )

    def may_be_valid(self, rule: Justification) -> bool:
        """All positive atoms are in, and of the negative ones none is."""
        label = self.label
        return all(label[a] is IN for a in rule.positive) and not any(
            label[a] is IN for a in rule.negative
        )

    def spoiler(self, rule: Justification) -> int:
        """An atom that keeps a rule from being valid; an unknown positive one if there is no other.

        An unknown atom is assumed to be out. If it turns out to be in after all, what was labelled
        by the assumption is found by this support.
        """
        out = [a for a in rule.positive if self.label[a] is OUT]
        spoilers = out or [a for a in rule.negative if self.label[a] is IN]
        if not spoilers:
            spoilers = [a for a in rule.positive if self.label[a] is UNKNOWN]
        return spoilers[0] if spoilers else NO_SPOILER

    def rests_on(self, rule: Justification, atom: int) -> bool:
        """Whether an atom is among what the body of a rule rests on."""
        waiting = [*rule.positive, *rule.negative]
        seen = set(waiting)
        while waiting:
            current = waiting.pop()
            if current == atom:
                return True
            # Spoilers of rules that are gone may be gone, too.
            new = {a for a in self.support.get(current, ()) if a not in seen}
            seen |= new
            waiting.extend(new)
        return False

    def affected(self, atom: int) -> list[int]:
        """The heads whose label rests on an atom directly."""
        return [head for head in self.consequences[atom] if atom in self.support[head]]

    def repercussions(self, atom: int) -> list[int]:
        """An atom and all atoms whose label rests on it, directly or not."""
        found = {atom: None}
        waiting = [atom]
        while waiting:
            for head in self.affected(waiting.pop()):
                if head not in found:
                    found[head] = None
                    waiting.append(head)
        return list(found)

    # --- labels ---

    def set_in(self, rule: Justification) -> None:
        """The head of a valid rule is in by it."""
        head = rule.head
        self.label[head] = IN
        self.members.add(head)
        self.support[head] = {*rule.positive, *rule.negative}
        self.by_rule[head] = rule

    def set_out(self, atom: int) -> None:
        """An atom is out, for every rule of it has a spoiler."""
        self.label[atom] = OUT
        self.members.discard(atom)
        self.support[atom] = {self.spoiler(rule) for rule in self.rules[atom]}
        self.by_rule[atom] = None

    def set_unknown(self, atoms: Iterable[int]) -> None:
        """Forget what is believed about some atoms."""
        for atom in atoms:
            self.label[atom] = UNKNOWN
            self.members.discard(atom)
            self.support[atom] = set()
            self.by_rule[atom] = None
