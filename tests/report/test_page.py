"""What pages say of spans."""

from pathlib import Path

from horai import loads
from horai.report.results import write_page

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
"""


def test_spans_are_told_alike_on_hover_and_in_the_table(tmp_path: Path) -> None:
    rows = [
        "win|13|13|chris",
        "lose|19|19|chris",
        "win|20|20|zoe",
        "win|30|30|ann",
        "lose|31|31|ann",
    ]
    write_page(loads(RULES).run(rows), tmp_path / "page.html", "a day", None)
    page = (tmp_path / "page.html").read_text()
    for who, when in (("chris", "from 14 until 20"), ("zoe", "from 21 on"), ("ann", "31")):
        assert f"<title>rich({who})=true: {when}</title>" in page
        assert f"<td>rich({who})=true</td><td>{when}</td>" in page
    assert str(2**62 - 1) not in page
