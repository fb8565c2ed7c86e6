// The map: tracks, areas, and where intervals held; a slider says at what time.

import { $, fit, h, oncePerFrame } from "./dom.js";
import { bound } from "./data.js";
import { colourOf, onTheme, theme } from "./theme.js";

const DEGREE = Math.PI / 180, EARTH = 6371e3, FINE = 1e6;
const TAILS = [["whole tracks", Infinity], ["last tenth", 0.1], ["last hundredth", 0.01]];
const SECONDS = 24; // that playing takes from the first time to the last

/** Mercator: angles stay as they are, and both axes count in the same unit. */
export const project = (lon, lat) => [lon * DEGREE, -Math.asinh(Math.tan(Math.min(Math.max(lat, -85), 85) * DEGREE))];
export const unproject = (x, y) => [x / DEGREE, Math.atan(Math.sinh(-y)) / DEGREE];

export class MapView {
  constructor(model, timeline) {
    Object.assign(this, { model, timeline, tail: Infinity, playing: null, canvas: $("map-canvas") });
    this.draw = oncePerFrame(() => this.has && this.#draw());
    this.#load();
    model.on("data", () => this.#load());
    model.on("filter", () => this.has && this.#held());
    model.on("cursor select view", this.draw);
    onTheme(this.draw);
    new ResizeObserver(this.draw).observe(this.canvas.parentElement);
    this.#controls();
    this.#hands();
    if (this.has) this.#held();
  }

  #load() {
    const { map } = this.model.data;
    this.has = map.rows?.length > 0 || map.areas.length > 0;
    if (!this.chosen) this.chosenNames = null;
    $("map").hidden = $("nav-map").hidden = !this.has;
    const slider = $("map-slider");
    slider.max = this.model.last;
    slider.step = Math.max(1, Math.floor(this.model.last / 2000));
    this.tracks = [];
    let row = 0;
    const byEntity = new Map();
    for (let i = 0; i < (map.rows?.length ?? 0); i++) {
      const size = map.rows[i];
      const track = { entity: map.entity[i], first: row, end: row + size };
      this.tracks.push(track);
      byEntity.set(track.entity, track);
      row += size;
    }
    this.byEntity = byEntity;
    this.time = map.time ?? new Uint32Array(0);
    this.x = new Float64Array(row);
    this.y = new Float64Array(row);
    for (let i = 0; i < row; i++) {
      [this.x[i], this.y[i]] = project(map.lon[i] / FINE - 180, map.lat[i] / FINE - 90);
    }
    this.areas = map.areas.map((area) => ({
      ...area,
      name: this.model.texts[area.name],
      kind: this.model.texts[area.kind],
      rings: area.rings.map((ring) => ring.map(([lon, lat]) => project(lon, lat))),
    }));
    this.kinds = [...new Set(this.areas.map((area) => area.kind))];
  }

  /** Show all there is; of a search, where those were that it found. */
  reset() {
    this.moved = false;
    let [west, north, east, south] = [Infinity, Infinity, -Infinity, -Infinity];
    const add = (x, y) => {
      [west, east] = [Math.min(west, x), Math.max(east, x)];
      [north, south] = [Math.min(north, y), Math.max(south, y)];
    };
    for (const track of this.tracks) {
      if (this.tracked && !this.tracked.has(track.entity)) continue;
      for (let i = track.first; i < track.end; i++) add(this.x[i], this.y[i]);
    }
    if (west > east || !this.model.isFiltered()) for (const area of this.areas) for (const ring of area.rings) for (const [x, y] of ring) add(x, y);
    const size = Math.max(east - west, south - north, 1e-6);
    this.box = { x: (west + east) / 2, y: (north + south) / 2, wide: Math.max(east - west, size * 0.1), tall: Math.max(south - north, size * 0.1) };
    this.camera = null;
    this.draw();
  }

  /** Lanes whose intervals are shown on the map, by entity. */
  #held() {
    const { model } = this;
    const lanes = model.spans, shown = model.shown.get(lanes);
    this.lanes = new Map();
    this.tracked = new Set();
    for (let lane = 0; lane < lanes.size; lane++) {
      if (!shown[lane]) continue;
      for (const code of model.entitiesOf(lanes, lane)) {
        if (!this.byEntity.has(code)) continue;
        if (!this.lanes.has(code)) this.lanes.set(code, []);
        this.lanes.get(code).push(lane);
      }
    }
    const words = model.search.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { entity } of this.tracks) {
      const text = model.texts[entity].toLowerCase();
      if (!words.length || this.lanes.has(entity) || words.some((word) => text.includes(word))) this.tracked.add(entity);
    }
    if (this.moved) this.draw();
    else this.reset();
  }

  get now() {
    return this.model.cursor ?? this.model.last;
  }

  // --- drawing ----------------------------------------------------------------------------------

  #draw() {
    const width = this.canvas.parentElement.clientWidth, height = Math.max(260, Math.min(560, innerHeight * 0.62));
    const drawing = fit(this.canvas, width, height);
    if (!this.camera) {
      const per = 0.9 * Math.min(width / this.box.wide, height / this.box.tall);
      this.camera = { x: this.box.x, y: this.box.y, per };
    }
    this.size = [width, height];
    this.#grid(drawing);
    this.#areas(drawing);
    const from = this.tail === Infinity ? -Infinity : this.now - this.tail * this.model.full[1];
    for (const track of this.tracks) if (this.tracked.has(track.entity)) this.#track(drawing, track, from);
    for (const track of this.tracks) if (this.tracked.has(track.entity)) this.#mark(drawing, track);
    this.#legend();
    $("map-time").textContent = this.model.clock.format(this.now);
    const slider = $("map-slider");
    if (document.activeElement !== slider || this.playing) slider.value = this.now;
    slider.setAttribute("aria-valuetext", this.model.clock.format(this.now));
  }

  at(x, y) {
    const { camera, size } = this;
    return [(x - camera.x) * camera.per + size[0] / 2, (y - camera.y) * camera.per + size[1] / 2];
  }

  #back(left, top) {
    const { camera, size } = this;
    return [(left - size[0] / 2) / camera.per + camera.x, (top - size[1] / 2) / camera.per + camera.y];
  }

  #grid(drawing) {
    const [width, height] = this.size;
    const [west, north] = unproject(...this.#back(0, 0)), [east, south] = unproject(...this.#back(width, height));
    const step = niceDegrees((east - west) / (width / 130));
    drawing.strokeStyle = theme.rule;
    drawing.fillStyle = theme.soft;
    drawing.lineWidth = 1;
    drawing.font = "11px system-ui, sans-serif";
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    drawing.beginPath();
    for (let k = Math.ceil(west / step); k * step <= east; k++) {
      const [x] = this.at(...project(k * step, 0));
      drawing.moveTo(x, 0);
      drawing.lineTo(x, height);
      drawing.fillText(degrees(k * step, digits, "E", "W"), x + 4, height - 8);
    }
    for (let k = Math.ceil(south / step); k * step <= north; k++) {
      const y = this.at(...project(0, k * step))[1];
      drawing.moveTo(0, y);
      drawing.lineTo(width, y);
      drawing.fillText(degrees(k * step, digits, "N", "S"), 4, y - 7);
    }
    drawing.stroke();
    this.#ruler(drawing, (north + south) / 2);
  }

  #ruler(drawing, lat) {
    const [width, height] = this.size;
    const metres = (EARTH * Math.cos(lat * DEGREE)) / this.camera.per; // of a point across
    const length = nice(metres * 100);
    const wide = length / metres;
    drawing.fillStyle = theme.ink;
    drawing.fillRect(width - wide - 16, height - 14, wide, 2);
    drawing.textAlign = "right";
    drawing.fillText(length >= 1000 ? `${length / 1000} km` : `${length} m`, width - 16, height - 24);
    drawing.textAlign = "left";
  }

  #areas(drawing) {
    for (const area of this.areas) {
      const colour = colourOf(this.kinds.indexOf(area.kind));
      drawing.beginPath();
      for (const ring of area.rings) {
        for (const [i, [x, y]] of ring.entries()) drawing[i ? "lineTo" : "moveTo"](...this.at(x, y));
        drawing.closePath();
      }
      drawing.fillStyle = drawing.strokeStyle = colour;
      drawing.globalAlpha = 0.1;
      drawing.fill("evenodd");
      drawing.globalAlpha = 0.55;
      drawing.setLineDash([4, 3]);
      drawing.lineWidth = 1;
      drawing.stroke();
      drawing.setLineDash([]);
      drawing.globalAlpha = 1;
      const [x, y] = this.at(...area.rings[0].reduce((best, one) => (one[1] < best[1] ? one : best)));
      drawing.fillStyle = theme.soft;
      drawing.fillText(area.kind === area.name ? area.name : `${area.name} (${area.kind})`, x + 3, y - 8);
    }
  }

  /** A track until now, thin; thick in the colours of what held there. */
  #track(drawing, track, from) {
    const begin = from === -Infinity ? track.first : bound(this.time, from, track.first, track.end, true);
    const now = bound(this.time, this.now, track.first, track.end);
    const chosen = this.model.selected;
    const mine = chosen && this.model.entitiesOf(chosen.lanes, chosen.lane).includes(track.entity);
    drawing.strokeStyle = mine ? theme.ink : theme.soft;
    drawing.globalAlpha = mine ? 0.9 : 0.65;
    drawing.lineWidth = mine ? 1.8 : 1.2;
    this.#line(drawing, begin, now);
    drawing.globalAlpha = 1;
    const lanes = this.model.spans;
    for (const lane of this.#painting(track.entity)) {
      const name = this.model.nameOf(lanes, lane);
      const last = lanes.firstFrom(lane, this.now + 1);
      drawing.strokeStyle = colourOf(name.number);
      drawing.lineWidth = 3.5;
      for (let row = lanes.firstAfter(lane, from); row < last; row++) {
        const a = bound(this.time, Math.max(lanes.start[row], from), begin, now, true);
        const b = bound(this.time, Math.min(lanes.end[row], this.now), begin, now);
        this.#line(drawing, a, b);
      }
    }
    if (chosen?.lanes === lanes && mine) this.#chosen(drawing, track, chosen.row);
  }

  /** The lanes of an entity that are painted; what holds rarely comes last, on top. */
  #painting(entity) {
    const order = [...this.painted]; // keys of names
    const place = (lane) => order.indexOf(this.model.nameOf(this.model.spans, lane).key);
    const some = (this.lanes.get(entity) ?? []).filter((lane) => place(lane) >= 0);
    return some.sort((a, b) => place(b) - place(a));
  }

  #chosen(drawing, track, row) {
    const lanes = this.model.spans;
    const a = bound(this.time, lanes.start[row], track.first, track.end, true);
    const b = bound(this.time, lanes.end[row], track.first, track.end);
    drawing.strokeStyle = theme.accent;
    drawing.globalAlpha = 0.35;
    drawing.lineWidth = 10;
    drawing.lineCap = "round";
    this.#line(drawing, a, b);
    drawing.globalAlpha = 1;
    drawing.lineCap = "butt";
  }

  /** Places between two rows, without those that the screen cannot tell apart. */
  #line(drawing, first, end) {
    if (first >= end) return;
    drawing.beginPath();
    let [left, top] = this.at(this.x[first], this.y[first]);
    drawing.moveTo(left, top);
    if (first + 1 === end) drawing.lineTo(left + 0.5, top);
    for (let i = first + 1; i < end; i++) {
      const [x, y] = this.at(this.x[i], this.y[i]);
      if (Math.abs(x - left) + Math.abs(y - top) < 0.8 && i + 1 < end) continue;
      drawing.lineTo((left = x), (top = y));
    }
    drawing.stroke();
  }

  /** Where an entity is now, between two positions if need be. */
  place(track, time = this.now) {
    const next = bound(this.time, time, track.first, track.end);
    if (next === track.first) return null;
    const last = next - 1;
    if (next === track.end) return [this.x[last], this.y[last]];
    const share = (time - this.time[last]) / (this.time[next] - this.time[last] || 1);
    return [this.x[last] + share * (this.x[next] - this.x[last]), this.y[last] + share * (this.y[next] - this.y[last])];
  }

  #mark(drawing, track) {
    const place = this.place(track);
    if (!place) return;
    const [x, y] = this.at(...place);
    const holds = this.holding(track.entity);
    drawing.beginPath();
    drawing.arc(x, y, 5, 0, 2 * Math.PI);
    drawing.fillStyle = holds.length ? colourOf(this.model.nameOf(this.model.spans, holds[0]).number) : theme.soft;
    drawing.fill();
    drawing.strokeStyle = theme.page;
    drawing.lineWidth = 1.5;
    drawing.stroke();
    drawing.font = "11px system-ui, sans-serif";
    if (this.tracked.size <= 40 || holds.length) {
      drawing.strokeStyle = theme.page;
      drawing.lineWidth = 3;
      drawing.strokeText(this.model.texts[track.entity], x + 8, y);
      drawing.fillStyle = theme.ink;
      drawing.fillText(this.model.texts[track.entity], x + 8, y);
    }
  }

  /** The lanes of an entity that hold now and are painted. */
  holding(entity) {
    const lanes = this.model.spans;
    return (this.lanes.get(entity) ?? []).filter((lane) => {
      if (!this.painted.has(this.model.nameOf(lanes, lane).key)) return false;
      const row = lanes.firstAfter(lane, this.now);
      return row < lanes.offset[lane + 1] && lanes.start[row] <= this.now;
    });
  }

  /** Which fluents are painted: the reader chooses, and at first the few that are rarest in time. */
  get painted() {
    if (this.chosenNames) return this.chosenNames;
    const { model } = this;
    const total = new Map();
    for (const listed of this.lanes.values()) {
      for (const lane of listed) {
        const name = model.nameOf(model.spans, lane);
        let sum = total.get(name) ?? 0;
        for (let row = model.spans.offset[lane]; row < model.spans.offset[lane + 1]; row++) sum += model.spans.end[row] - model.spans.start[row];
        total.set(name, sum);
      }
    }
    const rare = [...total].sort((a, b) => a[1] - b[1]).slice(0, 6).map(([name]) => name.key);
    return (this.chosenNames = new Set(rare));
  }

  #legend() {
    const names = new Set();
    for (const listed of this.lanes.values()) for (const lane of listed) names.add(this.model.nameOf(this.model.spans, lane));
    const key = [...names].map((name) => name.key).join() + [...this.painted].join() + theme.dark;
    if (key === this.legendKey) return;
    this.legendKey = key;
    $("map-names").replaceChildren(...[...names].sort((a, b) => a.number - b.number).map((name) => h("label", {},
      h("input", { type: "checkbox", checked: this.painted.has(name.key), onchange: (event) => this.#paint(name, event.target.checked) }),
      h("i", { class: "dot", style: `background:${colourOf(name.number)}` }), name.text,
    )));
  }

  #paint(name, on) {
    this.chosen = true;
    if (on) this.painted.add(name.key);
    else this.painted.delete(name.key);
    this.draw();
  }

  // --- hands ------------------------------------------------------------------------------------

  #controls() {
    const slider = $("map-slider");
    slider.addEventListener("input", () => this.model.point(Number(slider.value)));
    $("map-play").addEventListener("click", () => this.#play());
    $("map-reset").addEventListener("click", () => this.reset());
    $("map-tail").replaceChildren(...TAILS.map(([label, share]) => h("option", { value: share }, label)));
    $("map-tail").addEventListener("change", (event) => {
      this.tail = Number(event.target.value);
      this.draw();
    });
  }

  #play() {
    const button = $("map-play");
    if (this.playing) {
      cancelAnimationFrame(this.playing);
      this.playing = null;
      button.textContent = "▶ play";
      return;
    }
    button.textContent = "⏸ pause";
    let time = this.now >= this.model.last ? 0 : this.now, before = performance.now();
    const step = (moment) => {
      time += ((moment - before) / 1000 / SECONDS) * this.model.last;
      before = moment;
      this.model.point(Math.min(time, this.model.last));
      if (time >= this.model.last) return this.#play();
      this.playing = requestAnimationFrame(step);
    };
    this.playing = requestAnimationFrame(step);
  }

  #hands() {
    let drag = null;
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.offsetX, y: event.offsetY, camera: { ...this.camera }, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) return;
      const [x, y] = [event.offsetX - drag.x, event.offsetY - drag.y];
      drag.moved ||= Math.abs(x) + Math.abs(y) > 3;
      this.moved ||= drag.moved;
      this.camera.x = drag.camera.x - x / drag.camera.per;
      this.camera.y = drag.camera.y - y / drag.camera.per;
      this.draw();
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) this.#pick(event.offsetX, event.offsetY);
      drag = null;
    });
    canvas.addEventListener("dblclick", (event) => this.zoom(2, event.offsetX, event.offsetY));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 250), event.offsetX, event.offsetY);
    }, { passive: false });
    $("map-in").addEventListener("click", () => this.zoom(1.6));
    $("map-out").addEventListener("click", () => this.zoom(1 / 1.6));
  }

  zoom(factor, left = this.size[0] / 2, top = this.size[1] / 2) {
    const [x, y] = this.#back(left, top);
    this.moved = true;
    this.camera.per *= factor;
    this.camera.x = x - (left - this.size[0] / 2) / this.camera.per;
    this.camera.y = y - (top - this.size[1] / 2) / this.camera.per;
    this.draw();
  }

  /** The entity at a place becomes the search; what of it holds now is chosen. */
  #pick(left, top) {
    let best = null, least = 14;
    for (const track of this.tracks) {
      const place = this.tracked.has(track.entity) && this.place(track);
      if (!place) continue;
      const [x, y] = this.at(...place);
      const far = Math.hypot(x - left, y - top);
      if (far < least) [best, least] = [track, far];
    }
    if (!best) return;
    const [lane] = this.holding(best.entity);
    if (lane !== undefined) {
      const lanes = this.model.spans;
      this.model.select({ lanes, lane, row: lanes.firstAfter(lane, this.now) });
      this.timeline.reveal();
      return;
    }
    $("search").value = this.model.texts[best.entity];
    this.model.search = $("search").value;
    this.model.filter();
  }
}

function degrees(number, digits, plus, minus) {
  const text = Math.abs(number).toFixed(digits);
  return `${text}°${Number(text) === 0 ? "" : number > 0 ? plus : minus}`;
}

function nice(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= number) ?? power * 10;
}

function niceDegrees(number) {
  return [10, 15, 30, 45].find((n) => number > 5 && n >= number) ?? (number > 45 ? 45 : nice(number));
}
