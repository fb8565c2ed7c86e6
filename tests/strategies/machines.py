"""Random components as protocols have them: cycles through events, edges, numbers and delays.

Entities stand in an order: at one and the same moment a rule may ask only about those before its
own, so that nothing depends on itself. About values before the moment it may ask of all.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.strategies.parts import ClauseText, Described
from tests.strategies.runs import Run
from tests.strategies.streams import streams, windows

Body = tuple[str, ...]
# Events o1(X), o2(X,V); fluents with letters f(X), m(X), a number n(X), a relation g(X,Y).
ORDER = ("o1", "f", "o2", "n", "m", "o3", "g")
VALUES = ["f(X)=a", "f(X)=b", "n(X)=1", "n(X)=2", "m(X)=a", "m(X)=b", "f(X)=_", "n(X)=_", "m(X)=_"]
# All fluents ask for f, and f for all of them: without these rules there might be no cycle.
TIES = (
    ("initiatedAt(f(X)=b,T)", ("happensAt(e2(X),T)", "holdsAt(m(X)=a,T)", "\\+ holdsAt(n(X)=2,T)")),
    ("terminatedAt(f(X)=a,T)", ("happensAt(e1(X),T)", "holdsAt(g(X,_)=true,T)")),
    ("initiatedAt(m(X)=b,T)", ("happensAt(e1(X),T)", "holdsAt(f(X)=b,T)")),
    ("initiatedAt(n(X)=1,T)", ("happensAt(e4(X,1),T)", "holdsAt(f(X)=a,T)")),
    ("initiatedAt(g(X,Y)=true,T)", ("happensAt(e3(X,a),T)", "holdsAt(f(X)=b,T)", "linked(X,Y)")),
)


def _earlier(name: str) -> list[str]:
    return list(ORDER[: ORDER.index(name)])


def _happening(draw: Draw, name: str) -> Body:
    """Something of the component at the moment; it gives X a value, and perhaps V or N."""
    match name:
        case "o2":
            return (draw(st.sampled_from(["happensAt(o2(X,V),T)", "happensAt(o2(X,a),T)"])),)
        case "o1" | "o3":
            return (f"happensAt({name}(X),T)",)
        case "g":
            return ("happensAt(start(g(X,_)=true),T)",)
        case _:
            kind = draw(st.sampled_from(["start", "end", "initiatedAt"]))
            value = draw(st.sampled_from(["V", "_", "2" if name == "n" else "a"]))
            if kind == "initiatedAt":
                return (f"initiatedAt({name}(X)={value},T)",)
            return (f"happensAt({kind}({name}(X)={value}),T)",)


def _trigger(draw: Draw, name: str) -> Body:
    inputs = ["happensAt(e1(X),T)", "happensAt(e2(X),T)", "happensAt(e3(X,V),T)"]
    inputs += ["happensAt(e4(X,V),T)"]
    inside = draw(st.booleans())
    if inside and _earlier(name):
        found = _happening(draw, draw(st.sampled_from(_earlier(name))))
        more = draw(st.sampled_from([(), (), ("linked(X,_)",), ("thing(X)",)]))
        return (*found, *more)
    return (draw(st.sampled_from(inputs)),)


def _condition(draw: Draw, name: str, number: int) -> Body:
    holds = f"holdsAt({draw(st.sampled_from(VALUES))},T)"
    other = f"holdsAt({draw(st.sampled_from(VALUES))},T)"
    y, w = f"Y{number}", f"W{number}"
    kinds = ["holds", "not", "or", "if", "compare", "number", "link", "open", "outside", "letter"]
    match draw(st.sampled_from([*kinds, *(["instant", "instant"] if _earlier(name) else [])])):
        case "holds":
            return (holds,)
        case "not":
            return (f"\\+ {holds}",)
        case "or":
            third = draw(st.sampled_from([other, "holdsAt(i1(X)=true,T)", f"\\+ {other}"]))
            return (f"({holds} ; {third})",)
        case "if":
            return (f"({holds} -> {other} ; \\+ holdsAt(g(X,_)=true,T))",)
        case "compare":
            return (f"holdsAt(m(X)={w},T)", f"{w} \\= {draw(st.sampled_from(['a', 'b']))}")
        case "number":
            sign = draw(st.sampled_from(["<", ">", "=<", ">=", "=:=", "=\\="]))
            return (f"holdsAt(n(X)={w},T)", f"{w} {sign} {draw(st.integers(0, 3))}")
        case "link":
            return (f"linked(X,{y})", f"holdsAt(f({y})={w},T)")
        case "open":
            either = [f"holdsAt(g({y},X)=true,T)", "\\+ holdsAt(g(_,X)=_,T)"]
            return (draw(st.sampled_from(either)),)
        case "outside":
            tests = ["holdsAt(i1(X)=true,T)", "\\+ holdsAt(i1(X)=true,T)", "thing(X)", "e2(X)"]
            return (draw(st.sampled_from(tests)).replace("e2(X)", "\\+ happensAt(e2(X),T)"),)
        case "letter":
            return (f"(holdsAt(f(X)={w},T), holdsAt(m(X)={w},T) ; holdsAt(n(X)=_,T))",)
        case _:
            at_once = _happening(draw, draw(st.sampled_from(_earlier(name))))
            asked = tuple(one.replace("V", "_") for one in at_once)
            return asked if draw(st.booleans()) else tuple(f"\\+ {one}" for one in asked)


def _bodies(draw: Draw, name: str) -> Body:
    body = _trigger(draw, name)
    for number in range(draw(st.integers(0, 2))):
        body += _condition(draw, name, number)
    return body


def _letter(draw: Draw, body: Body) -> str:
    """A value for a head: a letter, or whatever the trigger brings along."""
    bound = any("V" in one for one in body)
    return draw(st.sampled_from(["a", "b", *(["V", "V"] if bound else [])]))


def _rule(draw: Draw, name: str) -> ClauseText:
    body = _bodies(draw, name)
    ends = draw(st.integers(0, 3)) == 3
    match name:
        case "o1" | "o3":
            return ClauseText(f"happensAt({name}(X),T)", body)
        case "o2":
            return ClauseText(f"happensAt(o2(X,{_letter(draw, body)}),T)", body)
        case "g":
            head = "terminatedAt" if ends else "initiatedAt"
            return ClauseText(f"{head}(g(X,Y)=true,T)", (*body, "linked(X,Y)"))
        case "n" if not ends:
            how = draw(st.sampled_from(["1", "N is M+1", "N is M*2-1", "N is (M+1) mod 3"]))
            if how == "1":
                return ClauseText("initiatedAt(n(X)=1,T)", body)
            return ClauseText("initiatedAt(n(X)=N,T)", (*body, "holdsAt(n(X)=M,T)", how))
        case _ if ends:
            value = draw(st.sampled_from(["_", "_", "2" if name == "n" else "a"]))
            return ClauseText(f"terminatedAt({name}(X)={value},T)", body)
        case _:
            return ClauseText(f"initiatedAt({name}(X)={_letter(draw, body)},T)", body)


def _delay(draw: Draw) -> ClauseText:
    wait = draw(st.integers(1, 7))
    head, body = draw(
        st.sampled_from(
            [
                (f"fi(f(X)=a,f(X)=b,{wait})", ()),
                (f"ft(f(X)=b,{wait})", ()),
                (f"fi(f(X)=a,m(X)=b,{wait})", ("\\+ holdsAt(n(X)=_,T)",)),
                (f"fi(f(X)=V,m(X)=V,{wait})", ()),
                ("fi(f(X)=b,m(X)=a,R)", ("limit(X,R)",)),
                (f"fi(f(X)=b,m(X)=V,{wait})", ("holdsAt(m(X)=V,T)",)),
                (f"fi(f(X)=a,f(X)=b,{wait})", (f"T2 is T+{wait}", "holdsAt(m(X)=_,T2)")),
                (f"fi(m(X)=a,m(X)=b,{wait})", (f"T2 is T+{wait}", "\\+ holdsAt(f(X)=a,T2)")),
                (f"fi(f(X)=b,f(X)=a,{wait})", ("holdsAt(i1(X)=true,T)",)),
                (f"ft(m(X)=a,{wait})", (f"T2 is T+{wait}", "\\+ holdsAt(i1(X)=true,T2)")),
                (f"ft(n(X)=_,{wait})", ()),
                ("fi(n(X)=N,n(X)=1,N)", ("holdsAt(f(X)=_,T)",)),
                (f"ft(g(_,_)=true,{wait})", ()),
                (f"fi(g(X,Y)=true,f(Y)=a,{wait})", ()),
            ]
        )
    )
    return ClauseText(head, body)


@st.composite
def descriptions(draw: Draw) -> Described:
    """A description; most of it is one component."""
    clauses = [ClauseText("collectIntervals(i1(_)=true)")]
    for name in ORDER:
        clauses += [_rule(draw, name) for _ in range(draw(st.integers(1, 3)))]
    clauses += [ClauseText(head, body) for head, body in TIES]
    clauses += [_delay(draw) for _ in range(draw(st.integers(0, 4)))]
    for extra in ("p(f(_)=a)", "p(n(_)=_)", "p(m(_)=a)"):
        if draw(st.integers(0, 3)) == 3:
            clauses.append(ClauseText(extra))
    for head, body in (
        ("initially(f(X)=a)", ("thing(X)",)),
        ("initially(n(X)=1)", ("thing(X)",)),
        ("grounding(f(X)=a)", ("thing(X)",)),
        ("grounding(m(X)=V)", ("thing(X)", "letter(V)")),
        ("grounding(n(X)=_)", ("thing(X)",)),
        ("grounding(o2(X,_))", ("thing(X)",)),
    ):
        if draw(st.integers(0, 3)) == 3:
            clauses.append(ClauseText(head, body))
    facts = ["thing(x)", "thing(y)", "letter(a)", "linked(x,y)", "linked(y,x)", "linked(y,y)"]
    clauses += [ClauseText(fact) for fact in [*facts, "limit(x,3)", "limit(x,5)", "limit(y,2)"]]
    return Described(clauses)


@st.composite
def protocol_runs(draw: Draw) -> Run:
    """A description, a stream, and how it is cut into windows."""
    cut = draw(windows())
    return Run(draw(descriptions()), cut, draw(streams(1, cut.lateness, early=3, most=30)))
