// The timeline: an overview of all time above, and below it lanes that are zoomed and scrolled.

import { $, clipped, counted, fit, h, oncePerFrame } from "./dom.js";
import { Scale, bars, drawAxis, drawPoints, drawSpans, together } from "./draw.js";
import { HEAD, LANE, Rows } from "./rows.js";
import { colourOf, onTheme, theme } from "./theme.js";

const AXIS = 24, OVERVIEW = 54, RIGHT = 14;
const TALLEST = 6_000_000; // browsers scroll no farther than some millions of points

export class Timeline {
  constructor(model) {
    this.model = model;
    this.rows = new Rows(model);
    this.canvas = $("lanes");
    this.overview = $("overview");
    this.scroll = $("scroll");
    this.tip = $("tip");
    this.draw = oncePerFrame(() => this.#draw());
    this.drawOverview = oncePerFrame(() => this.#drawOverview());
    model.on("filter", () => this.rebuild());
    model.on("view cursor select", () => this.both());
    onTheme(() => this.both());
    new ResizeObserver(() => this.both()).observe(this.scroll);
    this.scroll.addEventListener("scroll", this.draw);
    this.#watch();
    this.rebuild();
  }

  both() {
    this.draw();
    this.drawOverview();
  }

  rebuild() {
    this.rows.build();
    this.tallies = null;
    this.#size();
    this.both();
  }

  /** Group by something else, or open or close all groups. */
  regroup(by) {
    this.model.grouping = by;
    this.rows.closed = null;
    this.rows.own.clear();
    this.rebuild();
    this.scroll.scrollTop = 0;
  }

  openAll(open) {
    this.rows.all(open);
    this.#size();
    this.draw();
  }

  #size() {
    const wanted = this.rows.height + AXIS + 4;
    $("spacer").style.height = `${Math.min(wanted, TALLEST)}px`;
    this.scroll.style.height = `${Math.min(Math.max(wanted, 140), Math.max(260, innerHeight * 0.66))}px`;
    $("on-paper").hidden = wanted <= this.scroll.clientHeight;
    const { groups, lanes } = this.rows;
    const what = this.model.grouping === "entity" ? "group" : "name";
    $("rows-count").textContent = `${counted(lanes, "line")} in ${counted(groups.length, what)}`;
    $("nothing").hidden = lanes > 0;
  }

  /** How far down the rows are scrolled; the scroll bar stands for more than it can. */
  get top() {
    const room = this.scroll.clientHeight;
    const tall = this.rows.height + AXIS + 4;
    if (tall <= TALLEST) return this.scroll.scrollTop;
    return (this.scroll.scrollTop / (TALLEST - room)) * (tall - room);
  }

  set top(y) {
    const room = this.scroll.clientHeight;
    const tall = this.rows.height + AXIS + 4;
    this.scroll.scrollTop = tall <= TALLEST ? y : (y / (tall - room)) * (TALLEST - room);
  }

  #scale() {
    const width = this.scroll.clientWidth;
    const left = width < 620 ? 116 : Math.min(300, Math.max(180, width * 0.2));
    return new Scale(this.model.view, left, width - left - RIGHT);
  }

  // --- drawing ----------------------------------------------------------------------------------

  #draw() {
    const height = this.scroll.clientHeight;
    const drawing = fit(this.canvas, this.scroll.clientWidth, height);
    const scale = (this.scale = this.#scale());
    const edge = scale.left + scale.width;
    drawAxis(drawing, this.model.clock, scale, 0, height);
    drawing.save();
    drawing.beginPath();
    drawing.rect(0, AXIS, edge + RIGHT, height - AXIS);
    drawing.clip();
    this.#none(drawing, scale, height);
    const top = this.top;
    const first = this.rows.find(Math.max(0, top));
    for (let number = first?.number ?? 0; number < this.rows.groups.length; number++) {
      const y = AXIS + this.rows.top[number] - top;
      if (y > height) break;
      this.#group(drawing, scale, this.rows.groups[number], y, height);
    }
    this.#cursor(drawing, scale, AXIS, height);
    drawing.restore();
    drawing.fillStyle = theme.rule;
    drawing.fillRect(0, AXIS - 1, edge + RIGHT, 1);
    const from = this.model.clock.format(Math.max(0, this.model.view[0]));
    drawing.fillStyle = theme.soft;
    drawing.fillText(clipped(drawing, from, scale.left - 16), 8, 11);
  }

  /** Where a program has no answer. */
  #none(drawing, scale, height) {
    drawing.fillStyle = theme.soft;
    drawing.globalAlpha = 0.16;
    for (const [from, to] of this.model.layer.none) {
      const left = Math.max(scale.x(from), scale.left);
      const right = Math.min(scale.x(to), scale.left + scale.width);
      if (right > left) drawing.fillRect(left, AXIS, Math.max(right - left, 1), height);
    }
    drawing.globalAlpha = 1;
  }

  #group(drawing, scale, group, y, height) {
    if (y + HEAD > AXIS) this.#heading(drawing, scale, group, y);
    if (!group.open) return;
    const begin = Math.max(0, Math.floor((AXIS - y - HEAD) / LANE));
    for (let place = begin; place < group.count; place++) {
      const top = y + HEAD + place * LANE;
      if (top > height) break;
      const { lanes, lane } = group.at(place);
      this.#lane(drawing, scale, lanes, lane, top);
    }
  }

  #heading(drawing, scale, group, y) {
    drawing.fillStyle = theme.panel;
    drawing.fillRect(0, y, scale.left + scale.width + RIGHT, HEAD - 2);
    drawing.fillStyle = theme.soft;
    drawing.fillText(group.open ? "▾" : "▸", 8, y + HEAD / 2);
    if (group.name) {
      drawing.fillStyle = colourOf(group.name.number);
      drawing.fillRect(22, y + 8, 9, 9);
    }
    drawing.fillStyle = theme.ink;
    drawing.font = "600 12px system-ui, sans-serif";
    const left = group.name ? 37 : 22;
    drawing.fillText(clipped(drawing, group.label, scale.left - left - 58), left, y + HEAD / 2);
    drawing.font = "12px system-ui, sans-serif";
    drawing.fillStyle = theme.soft;
    drawing.textAlign = "right";
    drawing.fillText(group.count.toLocaleString("en"), scale.left - 12, y + HEAD / 2);
    drawing.textAlign = "left";
    const { spans, points } = group.tally(this.model);
    const colour = group.name ? colourOf(group.name.number) : theme.accent;
    drawing.globalAlpha = group.open ? 0.4 : 0.85;
    bars(drawing, together(spans, scale, 1), scale, 1, y + 3, HEAD - 8, colour);
    if (!group.open || !spans.length) {
      const tall = spans.length ? 5 : HEAD - 8;
      const marks = together(points, scale, 2);
      bars(drawing, marks, scale, 2, y + HEAD - 5 - tall, tall, spans.length ? theme.ink : colour);
    }
    drawing.globalAlpha = 1;
  }

  #lane(drawing, scale, lanes, lane, y) {
    const name = this.model.nameOf(lanes, lane);
    const chosen = this.model.selected;
    const isChosen = chosen?.lanes === lanes && chosen.lane === lane;
    if (isChosen) {
      drawing.fillStyle = theme.accent;
      drawing.globalAlpha = 0.13;
      drawing.fillRect(0, y, scale.left + scale.width + RIGHT, LANE);
      drawing.globalAlpha = 1;
    }
    drawing.fillStyle = theme.rule;
    drawing.globalAlpha = 0.6;
    drawing.fillRect(scale.left, y + LANE - 1, scale.width, 1);
    drawing.globalAlpha = 1;
    drawing.fillStyle = lanes.lasting ? theme.ink : theme.soft;
    drawing.fillText(clipped(drawing, lanes.label(lane).replace(/=true$/, ""), scale.left - 34), 22, y + LANE / 2);
    drawing.save();
    drawing.beginPath();
    drawing.rect(scale.left, y, scale.width + 2, LANE);
    drawing.clip();
    const colour = colourOf(name.number);
    if (lanes.lasting) drawSpans(drawing, lanes, lane, scale, y + 3, LANE - 7, colour);
    else drawPoints(drawing, lanes, lane, scale, y + 3, LANE - 7, colour);
    if (isChosen) {
      const row = chosen.row;
      const left = scale.x(lanes.start[row]), right = scale.x(lanes.lasting ? lanes.end[row] : lanes.start[row] + 1);
      drawing.strokeStyle = theme.ink;
      drawing.lineWidth = 1.5;
      drawing.strokeRect(left - 1, y + 2, Math.max(right - left, 4) + 2, LANE - 5);
    }
    drawing.restore();
  }

  #cursor(drawing, scale, top, bottom) {
    const time = this.model.cursor;
    if (time === null || time < scale.from || time > scale.to) return;
    drawing.fillStyle = theme.accent;
    drawing.fillRect(Math.round(scale.x(time)), top, 1, bottom - top);
  }

  #drawOverview() {
    const width = this.overview.parentElement.clientWidth;
    const drawing = fit(this.overview, width, OVERVIEW);
    const left = this.#scale().left;
    const scale = (this.wide = new Scale(this.model.full, left, width - left - RIGHT));
    this.tallies ??= this.model.stores.map((lanes) => {
      const shown = this.model.shown.get(lanes), chosen = [];
      for (let lane = 0; lane < lanes.size; lane++) if (shown[lane]) chosen.push(lane);
      return this.model.tally(lanes, chosen);
    });
    const [spans, points, items] = this.tallies;
    drawAxis(drawing, this.model.clock, scale, 0, OVERVIEW);
    drawing.globalAlpha = 0.75;
    const half = OVERVIEW - 30;
    bars(drawing, together([spans], scale, 1), scale, 1, 22, half - 4, theme.accent);
    bars(drawing, together([points, items], scale, 1), scale, 1, OVERVIEW - 10, 8, theme.soft);
    drawing.globalAlpha = 1;
    drawing.fillStyle = theme.soft;
    drawing.fillText("all of it", 8, 11);
    drawing.fillText(clipped(drawing, "what holds", left - 16), 8, 32);
    drawing.fillText(clipped(drawing, "events", left - 16), 8, OVERVIEW - 6);
    const [from, to] = [scale.x(this.model.view[0]), scale.x(this.model.view[1])];
    const begin = Math.max(from, scale.left), end = Math.min(to, scale.left + scale.width);
    drawing.fillStyle = theme.page;
    drawing.globalAlpha = 0.62;
    drawing.fillRect(scale.left, 20, begin - scale.left, OVERVIEW);
    drawing.fillRect(end, 20, scale.left + scale.width - end, OVERVIEW);
    drawing.globalAlpha = 1;
    drawing.strokeStyle = theme.accent;
    drawing.strokeRect(begin + 0.5, 20.5, Math.max(end - begin - 1, 2), OVERVIEW - 22);
    this.#cursor(drawing, scale, 20, OVERVIEW);
  }

  // --- hands ------------------------------------------------------------------------------------

  /** What is under a place of the canvas: a heading, or a lane and the row nearest to the time. */
  under(x, y) {
    if (!this.scale || y < AXIS) return null;
    const found = this.rows.find(y - AXIS + this.top);
    if (!found) return null;
    if (found.place < 0) return found;
    const { lanes, lane } = found.group.at(found.place);
    return { ...found, lanes, lane, ...this.#near(lanes, lane, x) };
  }

  #near(lanes, lane, x) {
    if (x < this.scale.left) return { row: null };
    const slack = 4 / this.scale.per, time = this.scale.time(x);
    const low = lanes.firstAfter(lane, time - slack);
    const high = lanes.firstFrom(lane, time + slack + (lanes.lasting ? 0 : 1e-9));
    if (low >= high) return { row: null };
    let best = low, least = Infinity;
    for (let row = low; row < Math.min(high, low + 5000); row++) {
      const end = lanes.lasting ? lanes.end[row] : lanes.start[row] + 1;
      const far = Math.max(0, lanes.start[row] - time, time - end);
      if (far < least) [best, least] = [row, far];
    }
    return { row: best, many: high - low };
  }

  #watch() {
    const { canvas, model } = this;
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.offsetX, y: event.clientY, view: [...model.view], top: this.scroll.scrollTop, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) return this.#hover(event);
      const by = event.offsetX - drag.x;
      if (Math.abs(by) + Math.abs(event.clientY - drag.y) > 4) drag.moved = true;
      if (!drag.moved) return;
      this.#hide();
      const shift = -by / this.scale.per;
      model.look(drag.view[0] + shift, drag.view[1] + shift);
      this.scroll.scrollTop = drag.top - (event.clientY - drag.y);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) this.#click(event.offsetX, event.offsetY);
      drag = null;
    });
    canvas.addEventListener("pointercancel", () => (drag = null));
    canvas.addEventListener("pointerleave", () => this.#hide());
    canvas.addEventListener("dblclick", (event) => {
      if (event.offsetX > this.scale.left) model.zoom(0.4, this.scale.time(event.offsetX));
    });
    canvas.addEventListener("wheel", (event) => {
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      if (event.ctrlKey || event.metaKey) {
        model.zoom(Math.exp(Math.sign(event.deltaY) * Math.min(0.4, Math.abs(event.deltaY) / 250)), this.scale.time(event.offsetX));
      } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
        const shift = sideways / this.scale.per;
        model.look(model.view[0] + shift, model.view[1] + shift);
      } else return;
      event.preventDefault();
    }, { passive: false });
    this.#brush();
    this.scroll.addEventListener("keydown", (event) => this.#key(event));
  }

  #brush() {
    let start = null;
    const { overview, model } = this;
    overview.addEventListener("pointerdown", (event) => {
      start = event.offsetX;
      overview.setPointerCapture(event.pointerId);
    });
    overview.addEventListener("pointermove", (event) => {
      if (start === null || Math.abs(event.offsetX - start) < 3) return;
      const [a, b] = [this.wide.time(start), this.wide.time(event.offsetX)];
      model.look(Math.min(a, b), Math.max(a, b));
    });
    overview.addEventListener("pointerup", (event) => {
      if (start !== null && Math.abs(event.offsetX - start) < 3) {
        const [from, to] = model.view, middle = this.wide.time(event.offsetX);
        model.look(middle - (to - from) / 2, middle + (to - from) / 2);
      }
      start = null;
    });
    overview.addEventListener("dblclick", () => model.look(...model.full));
  }

  #click(x, y) {
    const found = this.under(x, y);
    this.scroll.focus({ preventScroll: true });
    if (!found) return;
    if (found.place < 0) {
      this.rows.toggle(found.group);
      this.#size();
      this.draw();
    } else if (found.row !== null) {
      this.model.select({ lanes: found.lanes, lane: found.lane, row: found.row });
    }
  }

  #hover(event) {
    const found = this.under(event.offsetX, event.offsetY);
    this.canvas.style.cursor = found && (found.place < 0 || found.row !== null) ? "pointer" : "grab";
    if (!found || (found.row ?? null) === null) return this.#hide();
    const { lanes, lane, row, many } = found;
    const more = many > 1 ? `${many.toLocaleString("en")} here; zoom in to tell them apart` : "";
    this.tip.replaceChildren(
      h("b", {}, lanes.label(lane)),
      h("div", {}, spanText(this.model, lanes, row)),
      h("div", { class: "soft" }, more),
    );
    this.tip.hidden = false;
    const room = innerWidth - this.tip.offsetWidth - 12;
    this.tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, room))}px`;
    this.tip.style.top = `${event.clientY + 16}px`;
  }

  #hide() {
    this.tip.hidden = true;
  }

  #key(event) {
    const { model } = this;
    const step = (model.view[1] - model.view[0]) * 0.15;
    const shift = (by) => model.look(model.view[0] + by, model.view[1] + by);
    const keys = {
      ArrowLeft: () => (event.shiftKey || !model.selected ? shift(-step) : this.#next(-1)),
      ArrowRight: () => (event.shiftKey || !model.selected ? shift(step) : this.#next(1)),
      ArrowUp: () => this.#nextLane(-1),
      ArrowDown: () => this.#nextLane(1),
      PageUp: () => (this.scroll.scrollTop -= this.scroll.clientHeight - 40),
      PageDown: () => (this.scroll.scrollTop += this.scroll.clientHeight - 40),
    };
    if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  }

  /** The row before or after the chosen one, in its lane. */
  #next(by) {
    const { lanes, lane, row } = this.model.selected;
    const next = row + by;
    if (next < lanes.offset[lane] || next >= lanes.offset[lane + 1]) return;
    this.model.select({ lanes, lane, row: next });
    this.reveal();
  }

  #nextLane(by) {
    const chosen = this.model.selected;
    const y = chosen ? this.rows.heightOf(chosen.lanes, chosen.lane) : null;
    let at = y === null ? 0 : y + by * LANE;
    for (; at >= 0 && at < this.rows.height; at += by * (LANE / 2)) {
      const found = this.rows.find(at);
      if (found.place < 0) {
        if (!found.group.open && !found.group.count) continue;
        if (!found.group.open) this.rows.toggle(found.group, true);
        continue;
      }
      const { lanes, lane } = found.group.at(found.place);
      if (chosen && lanes === chosen.lanes && lane === chosen.lane) continue;
      const near = chosen ? chosen.lanes.start[chosen.row] : this.model.view[0];
      const row = Math.min(lanes.firstAfter(lane, near), lanes.offset[lane + 1] - 1);
      this.model.select({ lanes, lane, row });
      this.#size();
      this.reveal();
      return;
    }
  }

  /** Bring the chosen row into view. */
  reveal() {
    const { lanes, lane, row } = this.model.selected;
    const y = this.rows.heightOf(lanes, lane);
    if (y === null) return;
    this.#size();
    const room = this.scroll.clientHeight - AXIS;
    if (y < this.top || y + LANE > this.top + room) this.top = Math.max(0, y - room / 2);
    const [from, to] = this.model.view;
    const [start, end] = [lanes.start[row], lanes.lasting ? lanes.end[row] : lanes.start[row] + 1];
    if (end < from || start > to) {
      const middle = (start + Math.min(end, start + (to - from))) / 2;
      this.model.look(middle - (to - from) / 2, middle + (to - from) / 2);
    }
    this.draw();
  }
}

/** From when until when, in words. */
export function spanText(model, lanes, row) {
  const { clock } = model;
  const start = clock.format(lanes.start[row]);
  if (!lanes.lasting) {
    if (lanes.weight) return `${counted(lanes.weight[row], "item")} from ${start} on`;
    return `at ${start}`;
  }
  if (lanes.isOpen(row)) return `from ${start} on, still open`;
  if (lanes.length[row] === 1) return `at ${start}, one time-point`;
  return `from ${start} until ${clock.format(lanes.end[row])} (${clock.duration(lanes.length[row])})`;
}
