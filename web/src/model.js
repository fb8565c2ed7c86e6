// What all parts of the page share: what is shown, which part of time, and what is chosen.

import { Clock } from "./clock.js";
import { Lanes, bound } from "./data.js";

const collator = new Intl.Collator("en", { numeric: true });
export const compare = (a, b) => collator.compare(a, b);

export class Model {
  #listeners = {};

  constructor(data) {
    this.search = "";
    this.off = new Set(); // names that are not shown
    this.grouping = "entity";
    this.selected = null; // { lanes, lane, row }
    this.cursor = null;
    this.number = new Map(); // of names, for their colours
    this.#load(data);
    this.view = [...this.full];
    this.show(0);
  }

  #load(data) {
    this.data = data;
    this.texts = data.texts;
    this.clock = new Clock(data.time);
    this.last = data.time.last;
    this.items = new Lanes(data.items, data.texts, this.last);
    this.layers = data.layers.map((layer) => ({
      label: layer.label,
      none: layer.none,
      spans: new Lanes(layer.spans, data.texts, this.last),
      points: new Lanes(layer.points, data.texts, this.last),
    }));
    this.full = [0, Math.max(this.last + 1, 1)];
  }

  /** Show other data of the same run. Who looked at its end goes with it; what was chosen stays so. */
  replace(data) {
    const { clock, full, selected } = this, [from, to] = this.view;
    const layer = this.layers.indexOf(this.layer);
    const place = selected && this.stores.indexOf(selected.lanes);
    this.#load(data);
    const moved = Number(clock.base - this.clock.base), grown = this.full[1] - moved - full[1];
    if (from <= 0 && to >= full[1]) this.view = [...this.full];
    else if (to >= full[1]) this.view = [from + moved + grown, to + moved + grown];
    else this.view = [from + moved, to + moved];
    if (this.cursor !== null) this.cursor += moved;
    this.selected = null;
    this.#choose(Math.min(Math.max(layer, 0), this.layers.length - 1));
    if (selected) {
      const { lanes, lane, row } = selected;
      this.selected = this.#same(this.stores[place], lanes.kind(lane), lanes.label(lane), lanes.start[row] + moved);
    }
    this.tell("data");
    this.filter();
    this.tell("view");
    if (selected) this.tell("select");
  }

  /** The row of a lane with a label that starts at a time. */
  #same(lanes, kind, label, start) {
    for (let lane = 0; lane < lanes.size; lane++) {
      if (lanes.kind(lane) !== kind || lanes.label(lane) !== label) continue;
      const row = lanes.firstFrom(lane, start);
      return row < lanes.offset[lane + 1] && lanes.start[row] === start ? { lanes, lane, row } : null;
    }
    return null;
  }

  on(kinds, listener) {
    for (const kind of kinds.split(" ")) (this.#listeners[kind] ??= []).push(listener);
  }

  tell(kind) {
    for (const listener of this.#listeners[kind] ?? []) listener();
  }

  /** Show one of the layers. */
  show(number) {
    this.#choose(number);
    this.filter();
  }

  #choose(number) {
    this.layer = this.layers[number];
    this.spans = this.layer.spans;
    this.points = this.layer.points;
    this.stores = [this.spans, this.points, this.items];
    this.names = this.#names();
    this.#entities();
  }

  /** The names of fluents, atoms and events, by kind, with how many rows each has. */
  #names() {
    const found = new Map();
    for (const lanes of this.stores) {
      for (const block of lanes.blocks) {
        const text = this.texts[block.name];
        const kind = lanes === this.items ? "item" : block.kind;
        const key = `${kind} ${text}`;
        const end = lanes.offset[block.first + block.lanes];
        const rows = lanes.weight && lanes === this.items
          ? sum(lanes.weight, block.row, end) : end - block.row;
        const one = found.get(key) ?? { key, text, kind, rows: 0, blocks: new Set() };
        one.rows += rows;
        one.blocks.add(block);
        block.key = key;
        found.set(key, one);
      }
    }
    const order = { fluent: 0, atom: 1, input: 2, event: 3, item: 4 };
    const listed = [...found.values()].sort(
      (a, b) => order[a.kind] - order[b.kind] || compare(a.text, b.text),
    );
    for (const one of listed) {
      if (!this.number.has(one.key)) this.number.set(one.key, this.number.size);
      one.number = this.number.get(one.key);
    }
    this.byKey = new Map(listed.map((one) => [one.key, one]));
    return listed;
  }

  nameOf(lanes, lane) {
    return this.byKey.get(lanes.blocks[lanes.block[lane]].key);
  }

  /** Entities are what stands as a first argument anywhere; a lane belongs to all it names. */
  #entities() {
    const is = new Uint8Array(this.texts.length);
    for (const lanes of this.stores) {
      for (const block of lanes.blocks) if (block.args.length) for (const code of block.args[0]) is[code] = 1;
    }
    for (const code of this.data.map.entity ?? []) is[code] = 1;
    this.isEntity = is;
    this.entities = [];
    for (let code = 0; code < is.length; code++) if (is[code]) this.entities.push(code);
    this.entities.sort((a, b) => compare(this.texts[a], this.texts[b]));
  }

  /** The entities that a lane names, each once. */
  entitiesOf(lanes, lane) {
    const found = [];
    for (const code of lanes.args(lane)) if (this.isEntity[code] && !found.includes(code)) found.push(code);
    return found;
  }

  /** Work out which lanes are shown. */
  filter() {
    const words = this.search.toLowerCase().split(/\s+/).filter(Boolean);
    this.shown = new Map(this.stores.map((lanes) => [lanes, this.#shown(lanes, words)]));
    this.sums = new Map();
    this.revision = (this.revision ?? 0) + 1;
    this.tell("filter");
  }

  #shown(lanes, words) {
    const shown = new Uint8Array(lanes.size);
    for (const block of lanes.blocks) {
      if (this.off.has(block.key)) continue;
      for (let lane = block.first; lane < block.first + block.lanes; lane++) {
        if (words.length) {
          const label = lanes.label(lane).toLowerCase();
          if (!words.every((word) => label.includes(word))) continue;
        }
        shown[lane] = 1;
      }
    }
    return shown;
  }

  isFiltered() {
    return this.search.trim() !== "" || this.off.size > 0;
  }

  /** Look at a part of time; it stays within what there is. */
  look(from, to) {
    const least = Math.max(1e-6 * this.full[1], Math.min(2, this.full[1]));
    const room = this.full[1] * 0.02;
    let length = Math.min(Math.max(to - from, least), this.full[1] + 2 * room);
    let begin = from + (to - from - length) / 2;
    begin = Math.min(Math.max(begin, -room), this.full[1] + room - length);
    this.view = [begin, begin + length];
    this.tell("view");
  }

  /** Zoom around a time; a factor below 1 comes nearer. */
  zoom(factor, around = (this.view[0] + this.view[1]) / 2) {
    const [from, to] = this.view;
    this.look(around - (around - from) * factor, around + (to - around) * factor);
  }

  select(selected) {
    this.selected = selected;
    this.tell("select");
  }

  point(time) {
    this.cursor = time;
    this.tell("cursor");
  }

  /** Sorted starts and ends of some lanes' rows: how many hold in a stretch of time is one search. */
  tally(lanes, chosen) {
    let rows = 0;
    for (const lane of chosen) rows += lanes.offset[lane + 1] - lanes.offset[lane];
    const start = new Float64Array(rows);
    const end = lanes.lasting ? new Float64Array(rows) : start;
    let at = 0;
    for (const lane of chosen) {
      const [from, to] = [lanes.offset[lane], lanes.offset[lane + 1]];
      start.set(lanes.start.subarray(from, to), at);
      if (lanes.lasting) end.set(lanes.end.subarray(from, to), at);
      at += to - from;
    }
    if (lanes.weight) return weighted(lanes, chosen, start);
    start.sort();
    if (lanes.lasting) end.sort();
    return new Tally(start, end, lanes.lasting);
  }
}

/** How many intervals hold, or points lie, in a stretch of time. */
export class Tally {
  constructor(start, end, lasting, sums = null) {
    Object.assign(this, { start, end, lasting, sums });
  }

  get rows() {
    return this.sums ? this.sums.at(-1) : this.start.length;
  }

  /** From a time until before another. */
  between(from, to) {
    const begun = bound(this.start, to, 0, this.start.length, true);
    const over = bound(this.end, from, 0, this.end.length, !this.lasting);
    return this.sums ? this.sums[begun] - this.sums[over] : begun - over;
  }

  /** The numbers in stretches of the same length, as many as asked for. */
  bins(from, to, number, into = new Float64Array(number)) {
    const width = (to - from) / number;
    for (let i = 0; i < number; i++) into[i] = this.between(from + i * width, from + (i + 1) * width);
    return into;
  }
}

function weighted(lanes, chosen, start) {
  const pairs = [];
  for (const lane of chosen) {
    for (let row = lanes.offset[lane]; row < lanes.offset[lane + 1]; row++) {
      pairs.push([lanes.start[row], lanes.weight[row]]);
    }
  }
  pairs.sort((a, b) => a[0] - b[0]);
  const sums = new Float64Array(pairs.length + 1);
  for (const [i, [time, weight]] of pairs.entries()) {
    start[i] = time;
    sums[i + 1] = sums[i] + weight;
  }
  return new Tally(start, start, false, sums);
}

function sum(column, from, to) {
  let total = 0;
  for (let i = from; i < to; i++) total += column[i];
  return total;
}
