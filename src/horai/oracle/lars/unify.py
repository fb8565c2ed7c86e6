"""Patterns and the ground terms they may say.

An expression whose variables have no values yet may say anything.
"""

from __future__ import annotations

from collections.abc import Mapping

from horai.lang.lars.predicates import is_computed
from horai.lang.terms import Compound, Term, Var, variables
from horai.oracle.lars.numbers import NoValue, value

Values = Mapping[str, Term]


def unified(patterns: tuple[Term, ...], terms: tuple[Term, ...], values: Values) -> Values | None:
    """The values for which patterns may say these terms; None when there are none."""
    pairs = zip(patterns, terms, strict=True)
    for pattern, term in sorted(pairs, key=lambda pair: is_computed(pair[0])):
        found = _unified(pattern, term, values)
        if found is None:
            return None
        values = found
    return values


def _unified(pattern: Term, term: Term, values: Values) -> Values | None:
    if isinstance(pattern, Var):
        known = values.get(pattern.name)
        if known is None:
            return {**values, pattern.name: term}
        return values if known == term else None
    if is_computed(pattern):
        if not variables(pattern).keys() <= values.keys():
            return values
        try:
            return values if value(pattern, values) == term else None
        except NoValue:
            return None
    if isinstance(pattern, Compound):
        if not isinstance(term, Compound) or pattern.name != term.name:
            return None
        same_length = len(pattern.args) == len(term.args)
        return unified(pattern.args, term.args, values) if same_length else None
    return values if pattern == term else None
