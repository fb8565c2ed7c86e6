"""Whatever a person writes, the checks and passes must not fall over."""

from hypothesis import given
from hypothesis import strategies as st
from tests.plan.support import HERE
from tests.weights import examples

from horai.lang.ec.reader import read_text
from horai.plan.check import check
from horai.plan.ec.components import stratify
from horai.plan.ec.dependencies import dependency_graph
from horai.plan.ec.rule_order import Orderer
from horai.plan.split.keys import partition
from horai.report.graph import dependency_graph as drawing
from horai.report.graph import to_dot, to_mermaid

TEXTS = [path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*.ec"))]
PIECES = ["T", "X", "_", "true", "\\+ ", "=", "holdsAt", "3", "(", ")", ", ", " ; ", "[]", "f(X)=a"]


def run_everything(text: str) -> None:
    description, findings = read_text(text)
    check(description, ["python"], findings)
    strata = stratify(dependency_graph(description))
    partition(description, strata)
    assert len(Orderer(description).orders) == len(description.rules)
    for inputs in (False, True):
        picture = drawing(description, inputs)
        to_dot(picture)
        to_mermaid(picture)


@examples("normal")
@given(st.sampled_from(TEXTS), st.data())
def test_descriptions_with_pieces_missing_or_exchanged(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text) - 1))
        length = data.draw(st.integers(0, 12))
        text = text[:at] + data.draw(st.sampled_from(["", *PIECES])) + text[at + length :]
    run_everything(text)


def test_odd_descriptions() -> None:
    for text in [
        "",
        "p.",
        "p :- p.",
        "p(X) :- p(X).",
        "initiatedAt(f=V, T) :- happensAt(e, T), V = g(V).",
        "holdsFor(f=t, I) :- holdsFor(f=t, I).",
        "holdsAt(f=t, T) :- holdsAt(f=t, T).",
        "fi(f=a, f=b, 3) :- fi(f=a, f=b, 3).",
        "initiatedAt(f(X)=X, 5) :- happensAt(e(X), 5).",
        "happensAt(e, T) :- happensAt(e, T).",
        "terminatedAt(f(X)=V, T) :- happensAt(end(f(X)=V), T).",
        'initially(f(a)=1).\ninitially(f(b)="one").\ninitially(f(c)=[1, 2]).',
        "collectIntervals(f(_)=_).\npoints(f(_)=_).",
        "grounding(f(X)=V) :- member(X, [1, 2]), member(V, [a, b]).",
        "ft(f(X)=_, 3).\np(f(_)=_).",
    ]:
        run_everything(text)
