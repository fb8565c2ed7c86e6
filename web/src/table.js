// All intervals and events as a table: filtered as the timeline is, sorted by a column, to save.

import { $, counted, h, oncePerFrame, save } from "./dom.js";

const ROW = 26, TALLEST = 6_000_000, PRINTED = 300;
const COLUMNS = [
  ["what", "What"], ["kind", "Kind"], ["start", "From"], ["end", "Until"], ["length", "Length"],
];

export class Table {
  constructor(model, pick) {
    Object.assign(this, { model, pick, by: "start", down: false, withItems: false, inView: false });
    this.body = $("table-body");
    this.scroll = $("table-scroll");
    this.draw = oncePerFrame(() => this.#draw());
    this.refresh = oncePerFrame(() => this.#refresh());
    model.on("filter select", this.refresh);
    model.on("view", () => this.inView && this.refresh());
    this.scroll.addEventListener("scroll", this.draw);
    $("table-head").append(...COLUMNS.map(([key, label]) => h("button", { class: key, onclick: () => this.sort(key) }, label)));
    $("with-items").addEventListener("change", (event) => this.#set("withItems", event.target.checked));
    $("in-view").addEventListener("change", (event) => this.#set("inView", event.target.checked));
    for (const form of ["csv", "jsonl"]) $(`save-${form}`).addEventListener("click", () => this.save(form));
    addEventListener("beforeprint", () => this.#print());
    this.#refresh();
  }

  #set(name, value) {
    this[name] = value;
    this.#refresh();
  }

  sort(by) {
    this.down = this.by === by ? !this.down : by === "length";
    this.by = by;
    this.#refresh();
    this.scroll.scrollTop = 0;
  }

  /** Which rows are shown: pairs of a store's number and a row, in two columns. */
  #refresh() {
    const { model } = this;
    const key = [model.revision, this.by, this.down, this.withItems, this.inView, this.inView && model.view.join()].join();
    if (key !== this.key) {
      this.key = key;
      this.#choose();
    }
    this.#draw();
  }

  #choose() {
    const { model } = this;
    this.stores = [model.spans, model.points, ...(this.withItems ? [model.items] : [])];
    const parts = this.stores.map((lanes) => this.#rowsOf(lanes));
    const total = parts.reduce((all, part) => all + part.length, 0);
    this.store = new Uint8Array(total);
    this.row = new Uint32Array(total);
    let at = 0;
    for (const [number, part] of parts.entries()) {
      this.store.fill(number, at, at + part.length);
      this.row.set(part, at);
      at += part.length;
    }
    this.lanesOf = this.stores.map(laneOfRows);
    this.order = this.#order(total);
    for (const button of $("table-head").children) {
      const mine = button.classList.contains(this.by);
      button.setAttribute("aria-sort", mine ? (this.down ? "descending" : "ascending") : "none");
    }
    $("table-count").textContent = counted(total, "row");
    $("table-spacer").style.height = `${Math.min(total * ROW, TALLEST)}px`;
    this.scroll.style.height = `${Math.max(ROW * 3, Math.min(total * ROW + 2, ROW * 16))}px`;
  }

  #rowsOf(lanes) {
    const shown = this.model.shown.get(lanes);
    const [from, to] = this.inView ? this.model.view : [-Infinity, Infinity];
    const found = new Uint32Array(lanes.rows);
    let size = 0;
    for (let lane = 0; lane < lanes.size; lane++) {
      if (!shown[lane]) continue;
      const [low, high] = this.inView
        ? [lanes.firstAfter(lane, from), lanes.firstFrom(lane, to)] : [lanes.offset[lane], lanes.offset[lane + 1]];
      for (let row = low; row < high; row++) found[size++] = row;
    }
    return found.subarray(0, size);
  }

  #order(total) {
    const order = new Uint32Array(total);
    for (let i = 0; i < total; i++) order[i] = i;
    const key = this.#keys(total);
    if (key) order.sort(this.down ? (a, b) => key[b] - key[a] || a - b : (a, b) => key[a] - key[b] || a - b);
    else if (this.down) order.reverse();
    return order;
  }

  /** Numbers to sort by; rows stand in the order of what they are about already. */
  #keys(total) {
    if (this.by === "what") return null;
    const keys = new Float64Array(total);
    const kinds = ["fluent", "atom", "input", "event", "item", "retraction"];
    for (let i = 0; i < total; i++) {
      const lanes = this.stores[this.store[i]], row = this.row[i];
      if (this.by === "start") keys[i] = lanes.start[row];
      else if (this.by === "end") keys[i] = lanes.isOpen(row) ? Infinity : lanes.lasting ? lanes.end[row] : lanes.start[row];
      else if (this.by === "length") keys[i] = lanes.isOpen(row) ? Infinity : lanes.lasting ? lanes.length[row] : 0;
      else keys[i] = kinds.indexOf(lanes.kind(this.lanesOf[this.store[i]][row]));
    }
    return keys.map((key) => (key === Infinity ? Number.MAX_SAFE_INTEGER : key));
  }

  #at(place) {
    const i = this.order[place];
    const lanes = this.stores[this.store[i]], row = this.row[i];
    return { lanes, row, lane: this.lanesOf[this.store[i]][row] };
  }

  #cells({ lanes, lane, row }) {
    const { clock } = this.model;
    const end = !lanes.lasting ? "" : lanes.isOpen(row) ? "open" : clock.format(lanes.end[row]);
    const length = lanes.lasting && !lanes.isOpen(row) ? clock.duration(lanes.length[row]) : "";
    return [lanes.label(lane), lanes.kind(lane), clock.format(lanes.start[row]), end, length];
  }

  #draw() {
    const room = this.scroll.clientHeight, total = this.order.length, tall = total * ROW;
    const share = tall <= TALLEST ? this.scroll.scrollTop : (this.scroll.scrollTop / (TALLEST - room)) * (tall - room);
    const first = Math.max(0, Math.min(Math.floor(share / ROW), total - 1));
    const rows = [];
    for (let place = first; place < Math.min(total, first + Math.ceil(room / ROW) + 1); place++) rows.push(this.#line(place));
    this.body.replaceChildren(...rows);
  }

  #line(place) {
    const found = this.#at(place);
    const chosen = this.model.selected;
    const mine = chosen?.lanes === found.lanes && chosen.row === found.row;
    const cells = this.#cells(found).map((text, i) => h("span", { class: COLUMNS[i][0], role: "cell", title: i ? null : text }, text));
    const pick = () => this.pick(found);
    return h("div", {
      class: mine ? "line chosen" : "line", role: "row", tabindex: 0, onclick: pick,
      onkeydown: (event) => event.key === "Enter" && pick(),
    }, cells);
  }

  /** Paper has no scroll bars: the first rows are printed, and how many there are. */
  #print() {
    const rows = [];
    for (let place = 0; place < Math.min(this.order.length, PRINTED); place++) rows.push(this.#line(place));
    const left = this.order.length - rows.length;
    $("table-printed").replaceChildren(...rows, left > 0 ? h("p", {}, `and ${counted(left, "row")} more: save them from the page`) : "");
  }

  /** Save the rows that are shown, in their order. */
  save(form) {
    const { clock } = this.model;
    const parts = form === "csv" ? ["what,kind,start,end,start_time,end_time\n"] : [];
    let text = "";
    for (let place = 0; place < this.order.length; place++) {
      const { lanes, lane, row } = this.#at(place);
      const start = clock.point(lanes.start[row]);
      const end = !lanes.lasting ? null : lanes.isOpen(row) ? "inf" : clock.point(lanes.end[row]);
      const times = clock.size === null ? [null, null] : [clock.format(lanes.start[row]), end === null || end === "inf" ? null : clock.format(lanes.end[row])];
      const kind = lanes.kind(lane), what = lanes.label(lane);
      text += form === "csv" ? `${[what, kind, start, end, ...times].map(cell).join(",")}\n`
        : `${JSON.stringify(said(what, kind, start, end, times))}\n`;
      if (text.length > 1_000_000) {
        parts.push(text);
        text = "";
      }
    }
    save(`intervals.${form}`, [...parts, text], form === "csv" ? "text/csv" : "application/jsonl");
  }
}

function said(what, kind, start, end, [from, to]) {
  const found = { what, kind, start: Number(start) };
  if (end !== null) found.end = end === "inf" ? null : Number(end);
  if (from !== null) found.start_time = from;
  if (to !== null) found.end_time = to;
  return found;
}

/** A cell of CSV, which no spreadsheet takes for a formula. */
function cell(value) {
  const text = value === null ? "" : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?[0-9]+$/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function laneOfRows(lanes) {
  const found = new Uint32Array(lanes.rows);
  for (let lane = 0; lane < lanes.size; lane++) found.fill(lane, lanes.offset[lane], lanes.offset[lane + 1]);
  return found;
}

