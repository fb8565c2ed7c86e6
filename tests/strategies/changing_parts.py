"""Components for descriptions of `changing`: simple fluents, output events, interval rules."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.strategies.changing import DURATIONS, FACTS, HELPERS, Body, Clauses, Stage, body
from tests.strategies.parts import ClauseText, Described
from tests.strategies.static import MODES, RELATIONS

# Of one entity mostly; of an entity inside a term, and of nobody.
FORMS = ("f{}(X)",) * 6 + ("f{}(k(X))", "f{}")
LISTS = [("true",), ("true", "false"), ("a", "b", "c"), ("a", "k(a)", "k(b)")]


def _simple(stage: Stage, number: int) -> Clauses:
    """A fluent of one entity, of two, or of none; several rules, several values."""
    clauses: Clauses = []
    two = stage.chance(5)
    form = f"g{number}(X,Y)" if two else stage.pick(*FORMS).format(number)
    values = stage.draw(st.sampled_from(LISTS))
    for value in values:
        for _ in range(stage.draw(st.integers(1, 2))):
            clauses.append(_change(stage, "initiatedAt", form, value))
    every = [*values, "_", *(["k(_)"] if "k(a)" in values else [])]
    for _ in range(stage.draw(st.integers(0, 2))):
        clauses.append(_change(stage, "terminatedAt", form, stage.pick(*every)))
    if "a" in values and stage.chance(3):
        given = (*_letter(stage), *_second(form, ""))
        clauses.append(ClauseText(f"initiatedAt({form}=L,T)", given))
    if stage.chance(5):
        clauses.append(_counting(stage, form))
    if stage.chance(4):
        clauses.append(ClauseText(f"initially({form}={stage.pick(*values)})", _domain(form)))
    clauses += _delays(stage, form, values)
    clauses += _groundings(stage, form, values)
    if not two:
        stage.fluents.append((form, values))
        clauses += _mixed(stage, form, values)
    elif stage.chance(2):
        stage.fluents.append((form.replace("Y", "_"), values))
    else:
        stage.fluents.append((f"g{number}(y,X)", values))
    return clauses


def _domain(form: str) -> Body:
    return ("linked(X,Y)",) if "Y" in form else ("thing(X)",) if "X" in form else ()


def _delays(stage: Stage, form: str, values: tuple[str, ...]) -> Clauses:
    """Now and then a value that gives way to another, or ends, after some time."""
    if not stage.chance(5):
        return []
    first, *others = stage.draw(st.permutations(values))
    wait = stage.pick("2", "4", "9")
    change = ClauseText(f"ft({form}={first},{wait})")
    if others:
        change = ClauseText(f"fi({form}={first},{form}={others[0]},{wait})")
    more = [ClauseText(f"p({form}={first})")] if stage.chance(2) else []
    return [change, *more]


def _change(stage: Stage, head: str, form: str, value: str) -> ClauseText:
    found = body(stage)
    return ClauseText(f"{head}({form}={value},T)", (*found, *_second(form, ", ".join(found))))


def _second(form: str, bound: str) -> Body:
    """A rule for two entities needs the second one."""
    return ("linked(X,Y)",) if "Y" in form and "Y)" not in bound else ()


def _letter(stage: Stage) -> Body:
    return stage.draw(
        st.sampled_from([("happensAt(e3(X,L),T)",), ("happensAt(e1(X),T)", "holdsAt(i2(X)=L,T)")])
    )


def _counting(stage: Stage, form: str) -> ClauseText:
    """A value that is worked out."""
    found = ("happensAt(e4(X,N),T)", f"M is {stage.pick('N+1', 'N*2', 'N mod 2')}")
    return ClauseText(f"initiatedAt({form}=M,T)", (*found, *_second(form, "")))


def _groundings(stage: Stage, form: str, values: tuple[str, ...]) -> Clauses:
    """Of some values only those of a domain count."""
    if not stage.chance(4):
        return []
    some = values if stage.chance(2) else values[:1]
    return [ClauseText(f"grounding({form}={value})", _domain(form)) for value in some]


def _mixed(stage: Stage, form: str, values: tuple[str, ...]) -> Clauses:
    """One more value, made of intervals by another component."""
    if not stage.chance(5):
        return []
    others = [one for one in stage.fluents if one[0] != form]
    kept, stage.fluents = stage.fluents, others
    rule = _interval_rule(stage, f"{form}=late")
    stage.fluents = [*others, (form, (*values, "late"))]
    assert len(kept) == len(stage.fluents)
    return [rule]


def _output(stage: Stage, number: int) -> Clauses:
    """An event of one or two rules; or one more rule for another letter of an event."""
    if stage.chance(3):
        letter = stage.pick("a", "b", "c")
        stage.events.append(f"oo(X,{letter})")
        return [ClauseText(f"happensAt(oo(X,{letter}),T)", body(stage))]
    rules = stage.draw(st.integers(1, 2))
    found = [ClauseText(f"happensAt(o{number}(X),T)", body(stage)) for _ in range(rules)]
    if stage.chance(5):
        found.append(ClauseText(f"grounding(o{number}(X))", ("thing(X)",)))
    stage.events.append(f"o{number}(X)")
    return found


def _static(stage: Stage, number: int) -> Clauses:
    """A statically determined fluent of one or two rules, perhaps with two values."""
    form = f"h{number}(X)"
    values = ("true", "false") if stage.chance(4) else ("true",)
    clauses = [
        _interval_rule(stage, f"{form}={value}")
        for value in values
        for _ in range(1 + stage.chance(3))
    ]
    clauses += _groundings(stage, form, values)
    stage.fluents.append((form, values))
    return clauses


def _interval_rule(stage: Stage, pair: str) -> ClauseText:
    lists = [f"holdsFor({stage.pair()},I1)", f"holdsFor({stage.pair()},I2)"]
    if stage.chance(4):
        lists[1] = f"linked(X,Y), holdsFor({stage.pair('Y')},I2)"
    filtered = stage.pick("none", "none", "result", "operand", "both")
    found = [*lists]
    if filtered in ("operand", "both"):
        found.append(_duration(stage, "I1", "I0"))
    left = "I0" if filtered in ("operand", "both") else "I1"
    result = "I3" if filtered in ("result", "both") else "I"
    found.append(
        stage.pick(
            f"union_all([{left},I2],{result})",
            f"intersect_all([{left},I2],{result})",
            f"relative_complement_all({left},[I2],{result})",
            f"complement_all([I2],I4), intersect_all([{left},I4],{result})",
            f"{_related(stage, left, 'I2', result)}",
            f"union_all([{left},I2],I5), {_related(stage, left, 'I5', result)}",
            f"{_related(stage, left, 'I2', 'I6')}, intersect_all([I6,{left}],{result})",
        )
    )
    if result == "I3":
        found.append(_duration(stage, "I3", "I"))
    if stage.chance(3) or "X" not in "".join(lists):
        found.append("thing(X)")
    return ClauseText(f"holdsFor({pair},I)", tuple(found))


def _related(stage: Stage, source: str, target: str, result: str) -> str:
    one, other = stage.draw(st.permutations([source, target]))
    return f"{stage.pick(*RELATIONS)}({one},{other},{stage.pick(*MODES)},{result})"


def _duration(stage: Stage, source: str, target: str) -> str:
    if stage.chance(4):
        return f"limit(X,D{target}), {stage.pick(*DURATIONS)}({source},D{target},{target})"
    return f"{stage.pick(*DURATIONS)}({source},{stage.pick('1', '3', '6', '2.5')},{target})"


def _cycle(stage: Stage, number: int) -> Clauses:
    """Something that is worked out as a whole: it reads its own value."""
    form = f"c{number}(X)"
    clauses = [
        ClauseText(f"initiatedAt({form}=a,T)", (*body(stage, 1), f"\\+ holdsAt({form}=b,T)")),
        ClauseText(f"initiatedAt({form}=b,T)", (*body(stage, 1), f"holdsAt({form}=a,T)")),
    ]
    if stage.chance(2):
        clauses.append(ClauseText(f"fi({form}=b,{form}=a,{stage.pick('2', '5')})"))
    stage.fluents.append((form, ("a", "b")))
    return clauses


def _formula(stage: Stage, number: int) -> Clauses:
    form = f"m{number}(X)"
    found = ("thing(X)", f"holdsAt({stage.pair()},T)", f"\\+ holdsAt({stage.pair()},T)")
    stage.fluents.append((form, ("true",)))
    return [ClauseText(f"holdsAt({form}=true,T)", found)]


KINDS = {
    "simple": _simple,
    "output": _output,
    "static": _static,
    "cycle": _cycle,
    "formula": _formula,
}
LISTS_ABOVE_ALL = ("simple", "static", "static", "static")
OFTEN = ("simple",) * 5 + ("output",) * 3 + ("static",) * 3 + ("cycle", "formula")


@st.composite
def changing_descriptions(draw: Draw, most: int = 5, kinds: tuple[str, ...] = OFTEN) -> Described:
    """A description most of which is brought up to date by change."""
    stage = Stage(draw)
    clauses: Clauses = [ClauseText(f"collectIntervals({one}=true)") for one in ("i1(_)", "j(_,_)")]
    clauses += [ClauseText(f"buildFromPoints(i2(_)={value})") for value in ("a", "b")]
    for number in range(1, draw(st.integers(1, most)) + 1):
        clauses += KINDS[stage.pick(*kinds)](stage, number)
    clauses += HELPERS
    dynamic = stage.chance(6)
    if dynamic:
        clauses.append(ClauseText("dynamicDomain(thing(_))"))
        for one in ("e1(X)", "e3(X,_)", "i1(X)=true"):
            clauses.append(ClauseText(f"grounding({one})", ("thing(X)",)))
    facts = [fact for fact in FACTS if not (dynamic and fact.startswith("thing"))]
    clauses += [ClauseText(fact) for fact in facts]
    return Described(clauses, draw(st.sampled_from([1, 1, 1, 2, 3])))
