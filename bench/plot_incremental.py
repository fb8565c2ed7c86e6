"""Draws what bench_incremental.py has measured, in the manner of Figures 9 to 11 of the paper.

    python bench/plot_incremental.py RESULTS.json OUT.svg

Two rows of panels for each application: time per window against window/step with a line for each
mode, and below how many times as long it takes from scratch. A panel for each share of delayed
items; the first, where nothing is late, also shows what a fresh session needs for one step.
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

SCRATCH = "never"
NAMES = {SCRATCH: "from scratch", "always": "incremental", "auto": "as the engine chooses"}
COLOURS = {SCRATCH: "#b2402a", "always": "#1f6f8b", "auto": "#d8a31a"}
MARKS = {SCRATCH: "s", "always": "o", "auto": "^"}
STYLES = {SCRATCH: "-", "always": "-", "auto": "--"}
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
    records = [*results.get("d", []), *results.get("a", [])]
    mine = [record for record in records if record["application"] == application]
    shares = sorted({record["delayed"] for record in mine})
    return [
        Panel(share, sorted((r for r in mine if r["delayed"] == share), key=_ratio))
        for share in shares
    ]


def _ratio(record: Record) -> int:
    return int(record["ratio"])


def draw_times(axes: Axes, panel: Panel, modes: Iterable[str]) -> None:
    """Milliseconds per window."""
    for mode in modes:
        times = [1e3 * seconds for seconds in panel.seconds(mode)]
        axes.plot(panel.ratios, times, label=NAMES[mode], **_look(mode))
    steps = [record["step"] * 1e3 for record in panel.records if "step" in record]
    if steps:
        axes.plot(panel.ratios, steps, color="#888888", linestyle=":", label="one step, afresh")
    axes.set_title(f"{panel.delayed:.0%} delayed" if panel.delayed else "nothing late")


def draw_gains(axes: Axes, panel: Panel, modes: Iterable[str]) -> None:
    """Times as long from scratch; above the line the mode is faster."""
    scratch = panel.seconds(SCRATCH)
    for mode in modes:
        if mode != SCRATCH:
            pairs = zip(scratch, panel.seconds(mode), strict=True)
            axes.plot(panel.ratios, [before / after for before, after in pairs], **_look(mode))
    axes.axhline(1.0, color=COLOURS[SCRATCH], linewidth=1)
    axes.set_xlabel("window / step")


def _look(mode: str) -> dict[str, Any]:
    look = {"color": COLOURS[mode], "marker": MARKS[mode], "linestyle": STYLES[mode]}
    return look | {"markersize": 4, "linewidth": 1.4}


def tidy(axes: Sequence[Axes], found: Sequence[Panel]) -> None:
    """As many marks as there were measurements, and one height where it says something.

    Where nothing is late, windows are so many times as large that only powers fit on the axis.
    """
    late = [one for one, panel in zip(axes, found, strict=True) if panel.delayed]
    top = max((one.get_ylim()[1] for one in late), default=1.0)
    for one, panel in zip(axes, found, strict=True):
        one.set_xscale("log", base=2)
        one.set_xticks(panel.ratios, [str(ratio) for ratio in panel.ratios])
        if panel.delayed:
            one.set_ylim(0, top)
        else:
            one.set_yscale("log")
            one.yaxis.set_major_formatter("{x:g}")
        one.grid(alpha=0.3)
        one.spines[["top", "right"]].set_visible(False)


def draw(results: dict[str, Any], target: Path) -> None:
    """All applications, one above the other."""
    records = [*results.get("a", []), *results.get("d", [])]
    applications = list(dict.fromkeys(record["application"] for record in records))
    if not applications:
        raise SystemExit("nothing to draw: measure part a or d first")
    modes, columns = results["modes"], max(len(panels(results, name)) for name in applications)
    rows = 2 * len(applications)
    figure, grid = plt.subplots(
        rows, columns, figsize=(2.5 * columns + 1, 2.3 * rows), squeeze=False, layout="constrained"
    )
    for place, name in enumerate(applications):
        upper, lower = grid[2 * place], grid[2 * place + 1]
        found = panels(results, name)
        for number, panel in enumerate(found):
            draw_times(upper[number], panel, modes)
            draw_gains(lower[number], panel, modes)
        for line in (upper, lower):
            tidy(line[: len(found)], found)
            for axes in line[len(found) :]:
                axes.set_visible(False)
        upper[0].set_ylabel(f"{name}\nCPU ms per window")
        lower[0].set_ylabel("from scratch / mode")
    # The first panel has every line that any panel has.
    lines, names = grid[0][0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside upper center", ncols=len(names), frameon=False)
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
