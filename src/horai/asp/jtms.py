"""Justification-based truth maintenance: an answer set that changes as rules come and go.

The network has a justification for each rule, and a label for each atom that says what is believed.
If no atom depends on itself through an odd number of negations, the labels at rest are an answer
set of the rules. If one does, `verifies` makes sure that they are: every update is checked, and
tried again in another order before it is given up.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple


class Belief(Enum):
    """The label of an atom; unknown only during an update."""

    IN = "in"
    OUT = "out"
    UNKNOWN = "unknown"


IN, OUT, UNKNOWN = Belief.IN, Belief.OUT, Belief.UNKNOWN


class Justification(NamedTuple):
    """The rule `head :- positive, not negative`."""

    head: int
    positive: tuple[int, ...] = ()
    negative: tuple[int, ...] = ()


NO_SPOILER = -1  # no atom


class Network:
    """Rules with the labels of their atoms. Nothing here mends labels that rules contradict."""

    def __init__(self) -> None:
        self.label: dict[int, Belief] = {}
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

        If there are several, it is the one in most rules of this head: fewer atoms to rest on.
        An unknown atom is assumed to be out. If it turns out to be in after all, what was labelled
        by the assumption is found by this support.
        """
        out = [a for a in rule.positive if self.label[a] is OUT]
        spoilers = out or [a for a in rule.negative if self.label[a] is IN]
        if not spoilers:
            spoilers = [a for a in rule.positive if self.label[a] is UNKNOWN]
        if len(spoilers) < 2:
            return spoilers[0] if spoilers else NO_SPOILER
        return max(spoilers, key=lambda atom: self.consequences[atom][rule.head])

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

    def repercussions(self, *atoms: int) -> list[int]:
        """Atoms and all atoms whose label rests on them, directly or not."""
        found = dict.fromkeys(atoms)
        waiting = list(atoms)
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


class Unsettled(Exception):
    """No labels were found in a sensible number of steps: there may be no answer set."""


MOST_TRIES = 8
"""How often an update starts anew, in another order, before it gives up."""


class Jtms(Network):
    """A network whose labels are mended whenever rules come or go."""

    def __init__(self, seed: int = 0, *, verifies: bool = True) -> None:
        super().__init__()
        self.random = random.Random(seed)
        self.verifies = verifies
        self.updates = 0

    def change(self, added: Iterable[Justification], removed: Iterable[Justification]) -> None:
        """Add rules, remove others, and mend the labels once for all of them.

        In between there may be no answer at all, so nothing is settled there.
        """
        doubtful: dict[int, None] = {}
        for rule in added:
            if self._comes(rule):
                doubtful[rule.head] = None
        for rule in removed:
            if self._goes(rule):
                doubtful[rule.head] = None
        atoms = self.repercussions(*(atom for atom in doubtful if atom in self.label))
        if atoms:
            self._update(atoms)

    def _comes(self, rule: Justification) -> bool:
        """Take a rule in; True if the label of its head may be wrong then."""
        head = rule.head
        if rule in self.rules.get(head, ()):
            return False
        self.register(rule)
        if self.label[head] is IN:
            # A new rule carries an atom that does not carry it: it will be there for longer.
            if self.is_valid(rule) and not self.rests_on(rule, head):
                self.set_in(rule)
            return False
        if self.is_invalid(rule):
            self.support[head].add(self.spoiler(rule))
            return False
        if not self.consequences[head] and self.is_valid(rule):
            self.set_in(rule)  # no other label rests on it
            return False
        return True

    def _goes(self, rule: Justification) -> bool:
        """Take a rule out; True if the label of its head may be wrong then."""
        head = rule.head
        if rule not in self.rules.get(head, ()):
            return False
        carried = self.by_rule[head] == rule
        self.deregister(rule)
        return head in self.label and self.label[head] is IN and carried

    def _update(self, atoms: Sequence[int]) -> None:
        self.updates += 1
        for _ in range(MOST_TRIES):
            self._touched: set[int] = set()
            self._forget(atoms)
            if self._settle(atoms) and (not self.verifies or self._is_sound()):
                return
            # An unlucky order can go round in circles: settle more, and in another order.
            atoms = list(self.label)
            self.random.shuffle(atoms)
        raise Unsettled("truth maintenance found no answer")

    def _forget(self, atoms: Sequence[int]) -> None:
        self._touched.update(atoms)
        self.set_unknown(atoms)

    def _settle(self, atoms: Sequence[int]) -> bool:
        """Give labels to unknown atoms; False after more steps than this should take.

        What follows without a choice is found first, and again after every choice. A choice assumes
        that unknown atoms are out; when one of them comes in, all that rests on it is taken back.
        """
        self._steps = 1000 + 50 * len(atoms)
        choices = list(reversed(atoms))
        self._find(atoms, choices)
        while choices and self._steps > 0:
            atom = choices.pop()
            if self.label[atom] is not UNKNOWN:
                continue
            self._steps -= 1
            rule = next((r for r in self.rules[atom] if self.may_be_valid(r)), None)
            if rule is None:
                self.set_out(atom)
            elif self._take_back(atom, choices):
                choices.append(atom)
                continue
            else:
                self.set_in(rule)
            self._find(self.consequences[atom], choices)
        return self._steps > 0

    def _is_sound(self) -> bool:
        """Whether all atoms that were labelled anew have a reason to be in, or none."""
        for atom in self._touched:
            rule = self.by_rule[atom]
            if self.label[atom] is IN:
                if rule is None or not self.is_valid(rule):
                    return False
            elif not all(self.is_invalid(rule) for rule in self.rules[atom]):
                return False
        return True

    def _take_back(self, atom: int, choices: list[int]) -> bool:
        """Forget the labels that rest on an unknown atom being out; True if there were any."""
        wrong = self.repercussions(atom)[1:]
        if not wrong:
            return False
        self.random.shuffle(wrong)
        self._forget([*wrong, atom])
        choices.extend(wrong)
        return True

    def _find(self, atoms: Iterable[int], choices: list[int]) -> None:
        """Give the labels that follow without a choice, and those that follow from these."""
        waiting = list(atoms)
        label = self.label
        while waiting:
            atom = waiting.pop()
            if label[atom] is not UNKNOWN:
                continue
            valid, all_invalid = None, True
            for rule in self.rules[atom]:
                if self.is_valid(rule):
                    valid = rule
                    break
                all_invalid = all_invalid and self.is_invalid(rule)
            if valid is not None:
                if self._take_back(atom, choices):
                    self._steps -= 1
                    waiting.append(atom)
                    if self._steps < 0:
                        return
                    continue
                self.set_in(valid)
            elif all_invalid:
                self.set_out(atom)
            else:
                continue
            waiting.extend(h for h in self.consequences[atom] if label[h] is UNKNOWN)
