"""Draws what bench_incremental.py has measured, in the manner of Figures 9 to 11 of the paper.

    python bench/plot_incremental.py RESULTS.json OUT.svg

Rows of panels for each application: time per window against window/step with a line for each mode,
and how many times as long it takes otherwise than incrementally. A panel for each share of delayed
items; the first, where nothing is late, also shows what a new session needs for one step.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

Record = dict[str, Any]

INCREMENTAL = "compiled"
NAMES = {"afresh": "compiled, from scratch", INCREMENTAL: "compiled"}
COLOURS = {"afresh": "#d8a31a", INCREMENTAL: "#1f6f8b"}
MARKS = {"afresh": "^", INCREMENTAL: "o"}
# The same results make the same file, and texts stay texts.
matplotlib.use("svg")
matplotlib.rcParams |= {"svg.hashsalt": "horai", "svg.fonttype": "none", "font.size": 9}


class Panel(NamedTuple):
    """The measurements of one application and one share of delayed items."""

    delayed: float
    records: Sequence[Record]

    @property
    def ratios(self) -> list[int]:
        """Window to step."""
        return [record["ratio"] for record in self.records]

    def seconds(self, mode: str) -> list[float]:
        """Of each window."""
        return [record["seconds"][mode] for record in self.records]


def panels(results: dict[str, Any], application: str) -> list[Panel]:
    """Those of an application, from few late items to many."""
    records = [*results.get("c", []), *results.get("a", [])]
    mine = [record for record in records if record["application"] == application]
    shares = sorted({record["delayed"] for record in mine})
    return [Panel(share, _of(share, mine)) for share in shares]


def _of(share: float, records: Iterable[Record]) -> list[Record]:
    chosen = [record for record in records if record["delayed"] == share]
    return sorted(chosen, key=lambda record: int(record["ratio"]))


def draw_times(axes: Axes, panel: Panel, modes: Iterable[str]) -> None:
    """Milliseconds per window."""
    for mode in modes:
        times = [1e3 * seconds for seconds in panel.seconds(mode)]
        axes.plot(panel.ratios, times, label=NAMES[mode], **_look(mode))
    steps = [record["step"] * 1e3 for record in panel.records if "step" in record]
    if steps:
        axes.plot(
            panel.ratios, steps, color="#888888", linestyle=":", label="one step, from scratch"
        )
    axes.set_title(f"{panel.delayed:.0%} delayed" if panel.delayed else "nothing late")


def draw_gains(axes: Axes, panel: Panel, modes: Iterable[str]) -> None:
    """Times as long as incrementally; above the line that is faster."""
    ours = panel.seconds(INCREMENTAL)
    for mode in modes:
        if mode != INCREMENTAL:
            pairs = zip(panel.seconds(mode), ours, strict=True)
            axes.plot(panel.ratios, [before / after for before, after in pairs], **_look(mode))
    axes.axhline(1.0, color=COLOURS[INCREMENTAL], linewidth=1)


def _look(mode: str) -> dict[str, Any]:
    look = {"color": COLOURS[mode], "marker": MARKS[mode]}
    return look | {"markersize": 4, "linewidth": 1.4}


ROWS = {
    "CPU ms per window": draw_times,
    "times as long": draw_gains,
}


def tidy(axes: Sequence[Axes], found: Sequence[Panel]) -> None:
    """As many marks as there were measurements, and one height where it says something.

    Where nothing is late, windows are so many times as large that only powers fit on the axis.
    """
    late = [one for one, panel in zip(axes, found, strict=True) if panel.delayed]
    limits = [limit for one in late for limit in one.get_ylim()]
    for one, panel in zip(axes, found, strict=True):
        if not one.has_data():
            one.set_visible(False)
            continue
        one.set_xscale("log", base=2)
        one.set_xticks(panel.ratios, [str(ratio) for ratio in panel.ratios])
        if panel.delayed:
            one.set_ylim(min(0, *limits), max(limits))
        else:
            one.set_yscale("log")
            one.yaxis.set_major_formatter("{x:g}")
        one.grid(alpha=0.3)
        one.spines[["top", "right"]].set_visible(False)


def draw_application(grid: Sequence[Sequence[Axes]], name: str, results: dict[str, Any]) -> None:
    """The rows of one application."""
    found = panels(results, name)
    for line, (label, drawn) in zip(grid, ROWS.items(), strict=False):
        for axes, panel in zip(line, found, strict=False):
            drawn(axes, panel, results["modes"])
        tidy(line[: len(found)], found)
        for axes in line[len(found) :]:
            axes.set_visible(False)
        # A panel without data is not shown, and would take the label with it.
        next((axes for axes in line if axes.get_visible()), line[0]).set_ylabel(label)
    grid[0][0].set_ylabel(f"{name}\n{next(iter(ROWS))}")
    for axes in grid[-1]:
        axes.set_xlabel("window / step")


def draw(results: dict[str, Any], target: Path) -> None:
    """All applications, one above the other."""
    records = [*results.get("a", []), *results.get("c", [])]
    applications = list(dict.fromkeys(record["application"] for record in records))
    if not applications:
        raise SystemExit("nothing to draw: measure part a or c first")
    columns = max(len(panels(results, name)) for name in applications)
    each = len(ROWS)
    rows = each * len(applications)
    figure, grid = plt.subplots(
        rows, columns, figsize=(2.5 * columns + 1, 2.3 * rows), squeeze=False, layout="constrained"
    )
    for place, name in enumerate(applications):
        draw_application(list(grid[each * place : each * (place + 1)]), name, results)
    lines: dict[str, Any] = {}
    for axes in grid.flat:
        drawn, names = axes.get_legend_handles_labels()
        lines |= dict(zip(names, drawn, strict=True))
    figure.legend(
        lines.values(), lines, loc="outside upper center", ncols=len(lines), frameon=False
    )
    figure.savefig(target, metadata={"Date": None} if target.suffix == ".svg" else None)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draws measurements of incremental evaluation.")
    parser.add_argument("results", type=Path, help="what bench_incremental.py --json wrote")
    parser.add_argument("target", type=Path, help="an SVG file")
    given = parser.parse_args()
    draw(json.loads(given.results.read_text("utf-8")), given.target)


if __name__ == "__main__":
    main()
