"""What stops a run of a LARS program, said with the rules that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from horai.errors import RunError
from horai.lang.lars.predicates import ARITHMETIC, body_atoms, head_predicates
from horai.lang.lars.syntax import Aggregate, Choice, Head, Program, Rule
from horai.lang.lars.walk import own_terms, subformulas
from horai.lang.terms import Compound, Term, is_ground, subterms
from horai.plan.lars.dependencies import graph
from horai.plan.lars.findings import place_of

MOST_SHOWN = 3
"""Places, and numbers of a sum, that a message lists."""


def too_large(program: Program, sign: str, numbers: Sequence[int | float], when: str) -> RunError:
    """A number that a rule computes is larger than numbers can be."""
    shown = [_short(number) for number in numbers[:MOST_SHOWN]]
    if sign == "sum":
        more = [] if len(numbers) <= MOST_SHOWN else ["..."]
        text = f"sum {{ {', '.join([*shown, *more])} }}"
    else:
        text = f"{shown[0]} {sign} {shown[1]}"
    places = _places(rule for rule in program.rules if sign in _operations(rule))
    return RunError(f"{text} is beyond 2^1024, as far as numbers go ({when}): see {places}")


def endless(program: Program, tried: str, when: str) -> RunError:
    """Rules that compute ever new values from what they derive themselves."""
    component = graph(program).component_of()

    def rests_on_itself(rule: Rule) -> bool:
        heads = {component[head] for head in head_predicates(rule) if head in component}
        return any(component.get(atom.predicate) in heads for atom in body_atoms(rule))

    blamed = [rule for rule in program.rules if _makes_terms(rule) and rests_on_itself(rule)]
    problem = f"rules still derive new atoms after {tried}, it seems without end ({when})"
    hint = "bound what they compute, as `X < 100` does"
    return RunError(f"{problem}: see {_places(blamed)}; {hint}")


def _places(rules: Iterable[Rule]) -> str:
    found = list(dict.fromkeys(place for rule in rules if (place := place_of(rule)) is not None))
    if not found:
        return "the rules"
    more = [] if len(found) <= MOST_SHOWN else [f"{len(found) - MOST_SHOWN} more"]
    return ", ".join([*found[:MOST_SHOWN], *more])


def _operations(rule: Rule) -> set[str]:
    """What a rule computes with: `+`, `sum` and so on."""
    found = {
        part.name
        for term in _terms(rule)
        for part in subterms(term)
        if isinstance(part, Compound) and part.name in ARITHMETIC
    }
    functions = (part.function for part in _parts(rule) if isinstance(part, Aggregate))
    return found | set(functions)


def _makes_terms(rule: Rule) -> bool:
    return any(isinstance(term, Compound) and not is_ground(term) for term in _terms(rule))


def _terms(rule: Rule) -> Iterator[Term]:
    return (term for part in _parts(rule) for term in own_terms(part))


def _parts(rule: Rule) -> Iterator[Head]:
    heads = () if rule.head is None else (rule.head,)
    bodies = rule.head.options if isinstance(rule.head, Choice) else ()
    conditions = (part for option in bodies for part in option.condition)
    for part in (*heads, *conditions, *rule.body):
        yield from subformulas(part)


def _short(number: int | float) -> str:
    """A number that a reader can take in."""
    text = str(number)
    return text if len(text) < 20 else f"{text[:4]}...{text[-4:]} ({len(text)} digits)"
