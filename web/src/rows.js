// The rows of the timeline: groups by entity or by name, each with the lanes in it.

import { compare } from "./model.js";

export const LANE = 19, HEAD = 26;
const MOST_OPEN = 4000; // with more rows than these, groups are closed at first

/** A group: what it is about, its lanes as pairs of a store and lanes, and whether it is open. */
class Group {
  constructor(key, label, name = null) {
    Object.assign(this, { key, label, name, parts: [], count: 0, open: true, tallies: null });
  }

  add(lanes, lane) {
    let part = this.parts.at(-1);
    if (part?.lanes !== lanes) this.parts.push((part = { lanes, list: [] }));
    part.list.push(lane);
    this.count += 1;
  }

  /** The lane of a row below the heading. */
  at(place) {
    for (const part of this.parts) {
      if (place < part.list.length) return { lanes: part.lanes, lane: part.list[place] };
      place -= part.list.length;
    }
    return null;
  }

  get height() {
    return HEAD + (this.open ? this.count * LANE : 0);
  }

  /** What holds in the group, and what happens in it. */
  tally(model) {
    if (!this.tallies) {
      const parts = (lasting) => this.parts.filter((part) => part.lanes.lasting === lasting);
      this.tallies = {
        spans: parts(true).map((part) => model.tally(part.lanes, part.list)),
        points: parts(false).map((part) => model.tally(part.lanes, part.list)),
      };
    }
    return this.tallies;
  }
}

export class Rows {
  constructor(model) {
    this.model = model;
    this.closed = null; // whether groups are closed, where somebody has said so for all
    this.own = new Map(); // and for single ones
    this.build();
  }

  build() {
    const groups = this.model.grouping === "entity" ? this.#byEntity() : this.#byName();
    const rows = groups.reduce((total, group) => total + group.count, 0);
    const closed = this.closed ?? rows > MOST_OPEN;
    for (const group of groups) group.open = this.own.get(group.key) ?? !closed;
    this.groups = groups;
    this.lanes = rows;
    this.place();
  }

  place() {
    this.top = new Float64Array(this.groups.length + 1);
    for (const [i, group] of this.groups.entries()) this.top[i + 1] = this.top[i] + group.height;
    this.height = this.top[this.groups.length];
  }

  toggle(group, open = !group.open) {
    group.open = open;
    this.own.set(group.key, open);
    this.place();
  }

  all(open) {
    this.closed = !open;
    this.own.clear();
    for (const group of this.groups) group.open = open;
    this.place();
  }

  *#shown() {
    for (const lanes of this.model.stores) {
      const shown = this.model.shown.get(lanes);
      for (let lane = 0; lane < lanes.size; lane++) if (shown[lane]) yield [lanes, lane];
    }
  }

  #byEntity() {
    const found = new Map();
    const others = new Group("", "of no entity");
    for (const [lanes, lane] of this.#shown()) {
      const entities = this.model.entitiesOf(lanes, lane);
      for (const code of entities) {
        let group = found.get(code);
        if (!group) found.set(code, (group = new Group(`e${this.model.texts[code]}`, this.model.texts[code])));
        group.add(lanes, lane);
      }
      if (!entities.length) others.add(lanes, lane);
    }
    // What a search names itself comes before what only stands beside it.
    const words = this.model.search.toLowerCase().split(/\s+/).filter(Boolean);
    const isMeant = (group) => words.some((word) => group.label.toLowerCase().includes(word));
    const groups = [...found.values()].sort((a, b) => isMeant(b) - isMeant(a) || compare(a.label, b.label));
    return others.count ? [...groups, others] : groups;
  }

  #byName() {
    const found = new Map();
    for (const [lanes, lane] of this.#shown()) {
      const name = this.model.nameOf(lanes, lane);
      let group = found.get(name);
      if (!group) found.set(name, (group = new Group(name.key, name.text, name)));
      group.add(lanes, lane);
    }
    return this.model.names.filter((name) => found.has(name)).map((name) => found.get(name));
  }

  /** The group at a height, and which of its rows; -1 is the heading. */
  find(y) {
    if (y < 0 || y >= this.height) return null;
    let [low, high] = [0, this.groups.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.top[middle] <= y) low = middle;
      else high = middle - 1;
    }
    const group = this.groups[low], inside = y - this.top[low];
    return { number: low, group, place: inside < HEAD ? -1 : Math.floor((inside - HEAD) / LANE) };
  }

  /** How high a lane stands, opening its group if need be; null if it is not shown. */
  heightOf(lanes, lane) {
    for (const [number, group] of this.groups.entries()) {
      let place = 0;
      for (const part of group.parts) {
        const found = part.lanes === lanes ? part.list.indexOf(lane) : -1;
        if (found >= 0) {
          if (!group.open) this.toggle(group, true);
          return this.top[number] + HEAD + (place + found) * LANE;
        }
        place += part.list.length;
      }
    }
    return null;
  }
}
