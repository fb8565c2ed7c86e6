// Counts over time, lengths by name, and how late items were.

import uPlot from "uplot";
import { $, counted, h, oncePerFrame } from "./dom.js";
import { colourOf, onTheme, theme } from "./theme.js";

const BINS = 240, MOST_LINES = 8;

export class Charts {
  constructor(model) {
    Object.assign(this, { model, plots: [] });
    this.draw = oncePerFrame(() => this.#draw());
    model.on("filter", () => {
      this.tallies = null;
      this.draw();
      this.#lengths();
    });
    model.on("view", this.draw);
    model.on("data", () => this.#lateness());
    onTheme(this.draw);
    new ResizeObserver(this.draw).observe($("charts"));
    this.#lengths();
    this.#lateness();
    this.draw();
  }

  /** The lines of a chart: the largest names, and all others together. */
  #lines(stores) {
    const { model } = this;
    const lists = new Map();
    for (const lanes of stores) {
      const shown = model.shown.get(lanes);
      for (let lane = 0; lane < lanes.size; lane++) {
        if (!shown[lane]) continue;
        const name = model.nameOf(lanes, lane);
        const key = lists.get(name) ?? { name, parts: new Map(), rows: 0 };
        if (!key.parts.has(lanes)) key.parts.set(lanes, []);
        key.parts.get(lanes).push(lane);
        key.rows += lanes.offset[lane + 1] - lanes.offset[lane];
        lists.set(name, key);
      }
    }
    const listed = [...lists.values()].sort((a, b) => b.rows - a.rows);
    const tallies = (some) => some.flatMap((one) => [...one.parts].map(([lanes, chosen]) => model.tally(lanes, chosen)));
    const lines = listed.slice(0, MOST_LINES).map((one) => ({ label: one.name.text, colour: () => colourOf(one.name.number), tallies: tallies([one]) }));
    const rest = listed.slice(MOST_LINES);
    if (rest.length) lines.push({ label: `${rest.length} others`, colour: () => theme.soft, tallies: tallies(rest) });
    return lines;
  }

  #draw() {
    const { model } = this;
    this.tallies ??= [this.#lines([model.spans]), this.#lines([model.points, model.items])];
    for (const plot of this.plots) plot.destroy();
    this.plots = [];
    for (const [i, id] of ["holding", "happening"].entries()) {
      $(id).parentElement.hidden = !this.tallies[i].length;
      if (this.tallies[i].length) this.plots.push(this.#plot($(id), this.tallies[i]));
    }
  }

  #plot(place, lines) {
    const { model } = this;
    const [from, to] = [Math.max(model.view[0], 0), Math.min(model.view[1], model.full[1])];
    const number = Math.max(1, Math.min(BINS, Math.ceil(to - from)));
    const width = (to - from) / number;
    const times = Array.from({ length: number }, (_, i) => from + i * width);
    const columns = lines.map((line) => {
      const counts = new Float64Array(number);
      for (const tally of line.tallies) tally.bins(from, to, number).forEach((n, i) => (counts[i] += n));
      return [...counts];
    });
    const axis = { stroke: theme.soft, grid: { stroke: theme.rule, width: 1 }, ticks: { stroke: theme.rule }, font: "12px system-ui" };
    const sizes = { width: Math.max(240, place.clientWidth), height: 210 };
    return new uPlot({
      ...sizes,
      scales: { x: { time: false, range: [from, to] }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] } },
      axes: [
        {
          ...axis,
          splits: (_, __, low, high) => model.clock.ticks(low, high, sizes.width / 120).map((tick) => tick.time),
          values: (_, splits) => labels(model.clock, splits, sizes.width),
        },
        { ...axis, size: 56, values: (_, splits) => splits.map((n) => (Number.isInteger(n) ? n.toLocaleString("en") : "")) },
      ],
      series: [
        { label: "time", value: (_, time) => (time === null ? "" : model.clock.format(time)) },
        ...lines.map((line) => ({ label: line.label, stroke: line.colour(), width: 1.4, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } })),
      ],
      cursor: { drag: { setScale: false } },
      hooks: {
        setSelect: [(plot) => {
          const { left, width: wide } = plot.select;
          if (wide > 3) model.look(plot.posToVal(left, "x"), plot.posToVal(left + wide, "x"));
        }],
      },
    }, [times, ...columns], clean(place));
  }

  /** For each name how many intervals there are, and how long. */
  #lengths() {
    const { model } = this;
    const rows = [];
    const lanes = model.spans, shown = model.shown.get(lanes);
    for (const block of lanes.blocks) {
      const found = lengthsOf(model, lanes, block, shown);
      if (found) rows.push(found);
    }
    rows.sort((a, b) => b.total - a.total);
    const most = rows[0]?.total || 1;
    const { clock } = model;
    $("lengths").replaceChildren(
      h("thead", {}, h("tr", {}, ["", "intervals", "entities", "in all", "", "median", "longest", "open"].map((text) => h("th", {}, text)))),
      h("tbody", {}, rows.map((row) => h("tr", {},
        h("td", {}, h("i", { class: "dot", style: `background:${colourOf(row.name.number)}` }), row.name.text),
        h("td", {}, row.rows.toLocaleString("en")),
        h("td", {}, row.entities.toLocaleString("en")),
        h("td", {}, clock.duration(row.total)),
        h("td", { class: "bar" }, h("i", { style: `width:${(100 * row.total) / most}%;background:${colourOf(row.name.number)}` })),
        h("td", {}, row.closed ? clock.duration(row.median) : "–"),
        h("td", {}, row.closed ? clock.duration(row.longest) : "–"),
        h("td", {}, row.open ? row.open.toLocaleString("en") : ""),
      ))),
    );
    $("lengths").parentElement.hidden = !rows.length;
  }

  #lateness() {
    const { lateness, late, too_late: tooLate, items } = this.model.data.about.items;
    const bins = lateness ?? [];
    const some = bins.some((bin) => bin.most > 0 && bin.items);
    $("lateness-part").hidden = !some;
    if (!some) return;
    const most = Math.max(...bins.map((bin) => bin.items));
    const { clock } = this.model;
    const name = (bin) => (bin.most === 0 ? "at once" : `up to ${clock.duration(bin.most)}`);
    $("lateness").replaceChildren(
      h("tbody", {}, bins.map((bin) => h("tr", {},
        h("td", {}, name(bin)),
        h("td", { class: "bar" }, bin.items > 0 && h("i", { style: `width:${(100 * bin.items) / most}%` })),
        h("td", {}, bin.items.toLocaleString("en")),
      ))),
    );
    $("lateness-says").textContent = `Of ${counted(items, "item")}, ${late.toLocaleString("en")} came after a query time they were before and still counted; ${tooLate.toLocaleString("en")} came too late.`;
  }
}

function lengthsOf(model, lanes, block, shown) {
  const [from, to] = [lanes.offset[block.first], lanes.offset[block.first + block.lanes]];
  const lengths = new Float64Array(to - from);
  const entities = new Set();
  let closed = 0, open = 0, total = 0;
  for (let lane = block.first; lane < block.first + block.lanes; lane++) {
    if (!shown[lane]) continue;
    for (const code of model.entitiesOf(lanes, lane)) entities.add(code);
    for (let row = lanes.offset[lane]; row < lanes.offset[lane + 1]; row++) {
      total += lanes.end[row] - lanes.start[row];
      if (lanes.isOpen(row)) open += 1;
      else lengths[closed++] = lanes.length[row];
    }
  }
  if (!closed && !open) return null;
  const sorted = lengths.subarray(0, closed).sort();
  const name = model.byKey.get(block.key);
  return { name, rows: closed + open, open, closed, total, entities: entities.size, median: sorted[closed >> 1], longest: sorted[closed - 1] };
}

function labels(clock, splits, width) {
  if (splits.length < 2) return splits.map((time) => clock.format(time));
  const ticks = clock.ticks(splits[0], splits.at(-1), width / 120);
  const known = new Map(ticks.map((tick) => [Math.round(tick.time), tick.label]));
  return splits.map((time) => known.get(Math.round(time)) ?? "");
}

function clean(place) {
  place.replaceChildren();
  return place;
}
