"""Pictures of the dependency graph."""

import shutil
from pathlib import Path

import pytest
from tests.plan.support import described, example

from horai.report.graph import (
    Arrow,
    Drawing,
    GraphError,
    dependency_graph,
    to_dot,
    to_mermaid,
    write_graph,
)


def names(drawing: Drawing) -> dict[str, str]:
    """What ids stand for."""
    found = {node.id: node.label for node in drawing.nodes}
    for box in drawing.boxes:
        found[box.id] = f"[{box.label}]"
        found |= {node.id: f"{box.label}/{node.label}" for node in box.nodes}
    return found


def arrows(drawing: Drawing) -> set[tuple[str, str]]:
    known = names(drawing)
    return {(known[a.source], known[a.target]) for a in drawing.arrows}


def arrow(drawing: Drawing, source: str, target: str) -> Arrow:
    known = names(drawing)
    (found,) = [a for a in drawing.arrows if (known[a.source], known[a.target]) == (source, target)]
    return found


def test_netbill() -> None:
    drawing = dependency_graph(example("netbill"))
    assert {box.label: box.cyclic for box in drawing.boxes} == {
        "quote": False,
        "permission": False,
        "cycle": True,
    }
    assert {level: len(nodes) for level, nodes in drawing.levels.items()} == {1: 5, 2: 4}
    delayed = arrow(drawing, "quote/true", "quote/expiring")
    assert (delayed.kind, delayed.label) == ("f", "5")
    read = arrow(drawing, "cycle/suspended = true", "cycle/contract = true")
    assert (read.kind, read.negative) == ("i", True)


def test_what_comes_from_the_stream_is_drawn_on_demand() -> None:
    description = example("netbill")
    plain, full = dependency_graph(description), dependency_graph(description, inputs=True)
    assert 0 not in plain.levels
    assert {node.label for node in full.levels[0]} == {
        "present_quote",
        "accept_quote",
        "request_quote",
        "withhold_payment",
    }
    assert {node.style for node in full.levels[0]} == {"input"}


def test_readings_of_any_value_are_one_arrow() -> None:
    drawn = arrows(dependency_graph(example("maritime")))
    assert ("[gap]", "[stopped]") in drawn
    assert ("[movingSpeed]", "underWay = true") in drawn
    assert ("withinArea = true", "gap/nearPort") in drawn
    assert not any(source.startswith("gap/") for source, _ in drawn)


def test_a_state_machine_is_a_box_of_its_own() -> None:
    (box,) = [b for b in dependency_graph(example("voting")).boxes if b.cyclic]
    assert box.label == "status: cycle"
    assert [node.label for node in box.nodes] == ["null", "proposed", "voting", "voted"]


def test_delayed_terminations_are_noted_at_the_node() -> None:
    drawing = dependency_graph(example("voting"))
    (node,) = [n for n in drawing.nodes if n.label == "sanctioned = true"]
    assert node.note == "ends after 100"


def test_styles_tell_sorts_apart() -> None:
    drawing = dependency_graph(
        described("""
        happensAt(o(X), T) :- happensAt(e(X), T).
        initiatedAt(f(X)=true, T) :- happensAt(o(X), T).
        holdsFor(g(X)=true, I) :- holdsFor(f(X)=true, I).
        """)
    )
    assert {node.label: node.style for node in drawing.nodes} == {
        "o": "event",
        "f = true": "simple",
        "g = true": "determined",
    }


def test_dot_text() -> None:
    text = to_dot(dependency_graph(example("netbill")))
    assert text.startswith("digraph dependencies {")
    assert 'label="5", style=dashed' in text
    assert "arrowtail=tee" in text or "arrowhead=tee" in text
    assert to_dot(dependency_graph(example("netbill"))) == text


def test_names_with_quotes_are_escaped() -> None:
    description = described("initiatedAt(at(X)='the \"inn\"', T) :- happensAt(e(X), T).")
    assert '\\"inn\\"' in to_dot(dependency_graph(description))
    assert "#quot;inn#quot;" in to_mermaid(dependency_graph(description))


def test_names_are_no_markup_and_no_lines_of_their_own() -> None:
    text = "initiatedAt('<b>&#x\\nclick n0 \"javascript:1\"'=true, T) :- happensAt(e, T)."
    lines = to_mermaid(dependency_graph(described(text))).splitlines()
    assert not any(line.strip().startswith("click") for line in lines)
    assert any("#lt;b#gt;#amp;#35;x click" in line for line in lines)


def test_mermaid_text() -> None:
    lines = to_mermaid(dependency_graph(example("netbill"))).splitlines()
    assert lines[0] == "flowchart LR"
    assert any("-.->|5|" in line for line in lines)
    assert any("--x" in line for line in lines)
    assert lines.count("  end") == 3
    assert any(line.endswith(" cycle") for line in lines)


def test_a_description_without_rules_gives_an_empty_drawing(tmp_path: Path) -> None:
    drawing = dependency_graph(described("p(a)."))
    assert drawing.levels == {}
    assert write_graph(drawing, tmp_path / "g.dot").read_text().endswith("}\n")


@pytest.mark.parametrize("name", ["netbill", "maritime", "voting", "surveillance"])
@pytest.mark.parametrize("inputs", [False, True])
def test_dot_draws_it(name: str, inputs: bool, tmp_path: Path) -> None:
    path = write_graph(dependency_graph(example(name), inputs), tmp_path / "g.svg")
    assert "<svg" in path.read_text(encoding="utf-8")


def test_png(tmp_path: Path) -> None:
    path = write_graph(dependency_graph(example("netbill")), str(tmp_path / "g.png"))
    assert path.read_bytes().startswith(b"\x89PNG")


def test_an_empty_drawing_can_be_drawn(tmp_path: Path) -> None:
    assert write_graph(dependency_graph(described("p(a).")), tmp_path / "g.svg").exists()


def test_text_formats_need_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    for ending in ("dot", "gv", "mmd"):
        assert (
            write_graph(dependency_graph(example("netbill")), tmp_path / f"g.{ending}")
            .stat()
            .st_size
            > 0
        )
    with pytest.raises(GraphError, match="apt-get install graphviz"):
        write_graph(dependency_graph(example("netbill")), tmp_path / "g.png")


def test_an_unknown_ending_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"\.svg"):
        write_graph(dependency_graph(example("netbill")), tmp_path / "g.jpeg")
