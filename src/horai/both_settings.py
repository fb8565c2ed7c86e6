"""Settings of a run in two languages, from what people write."""

from __future__ import annotations

from collections.abc import Iterable

from horai import parameters
from horai.engines import DEFAULT, ENGINES, SPARK, incremental_named
from horai.errors import UsageError
from horai.lang.diagnostics import did_you_mean
from horai.lars_engines import AUTO, LARS_ENGINES
from horai.lars_wanted import REASONING, Which


def engines_named(name: str) -> tuple[str, str]:
    """The engines of description and program, by one name.

    >>> engines_named("auto"), engines_named("reference"), engines_named("asp")
    (('columnar', 'auto'), ('reference', 'reference'), ('columnar', 'asp'))
    """
    known = [AUTO, *ENGINES, *(engine for engine in LARS_ENGINES if engine not in ENGINES)]
    wanted = parameters.text(name, "engine", f"the engines are: {', '.join(known)}")
    if wanted == SPARK:
        hint = "leave the engine out; each language by itself has its own engines"
        raise UsageError("rules of two languages run in one process, not on Spark", hint)
    if wanted not in known:
        near = did_you_mean(wanted, known)
        hint = f"did you mean {near}?" if near else f"the engines are: {', '.join(known)}"
        raise UsageError(f"there is no engine {wanted!r} for rules of two languages", hint)
    description = wanted if wanted in ENGINES else DEFAULT
    return description, wanted if wanted in LARS_ENGINES else AUTO


def reasoning_named(given: str) -> Which:
    """What counts of a program with several answers."""
    which = next((one for one in REASONING if one == given and one != "models"), None)
    if which is None:
        hint = "it is cautious (what holds in all answers) or brave (in some); answers themselves "
        hint += "are those of a run of the program alone"
        raise UsageError(f"reasoning cannot be {given!r} for rules of two languages", hint)
    return which


def incremental_of(given: str, engine: str) -> str:
    """When the description is worked out by change, if its engine can be."""
    return incremental_named(given, engines_named(engine)[0])


def names_shown(given: str | Iterable[str] | None) -> frozenset[str] | None:
    """The predicates of the program that a filter names, None for all."""
    if given is None or given == "inferences":
        return None
    listed = given.split(",") if isinstance(given, str) else list(given)
    names = frozenset(name.strip() for name in listed if name.strip())
    if not names or "none" in names:
        raise UsageError("the filter names no predicate", "write names: --filter a,b")
    return names
