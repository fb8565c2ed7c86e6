// A page of a run that goes on: how far it is, what holds now, what changed last, what rules cost.

import { unpacked } from "./data.js";
import { $, counted, h } from "./dom.js";
import { compare } from "./model.js";
import { deadLetters, findings, heading, notes, revisions, streamChoice, tiles } from "./panels.js";
import { colourOf, onTheme } from "./theme.js";

const OFTEN = 1000, REST = 4; // milliseconds between two pictures, and how much longer than one takes
const MOST_HOLDING = 300;
const STATES = { waiting: "waiting for rows", running: "running", paused: "paused", ended: "the input has ended" };

/** Follow a run; its page opens when there is something to show. */
export function live(open) {
  const bar = new Bar();
  let page = null, status = null, busy = false;
  const refresh = async () => {
    if (busy || document.hidden || !status?.version || status.version === page?.version) return;
    busy = true;
    const began = performance.now();
    try {
      const bytes = await fetched("/data");
      if (!bytes) return;
      const data = await unpacked(bytes);
      if (page) page.show(data);
      else page = new LivePage(open(data), bar);
      await new Promise((drawn) => requestAnimationFrame(drawn));
    } finally {
      setTimeout(() => {
        busy = false;
        refresh();
      }, Math.max(OFTEN, REST * (performance.now() - began)));
    }
  };
  const events = new EventSource("/events");
  events.onmessage = (event) => {
    status = JSON.parse(event.data);
    bar.show(status, page?.model.clock);
    $("loading")?.replaceChildren("No query time has been so far.");
    refresh();
  };
  events.onerror = () => bar.lost(events.readyState === EventSource.CLOSED);
  document.addEventListener("visibilitychange", refresh);
}

/** What the server has, null if nobody answers: the bar says so. */
async function fetched(path) {
  try {
    const answer = await fetch(path);
    return answer.ok ? await answer.arrayBuffer() : null;
  } catch {
    return null;
  }
}

/** How far the run is, and what can be done about it. */
class Bar {
  constructor() {
    this.state = h("b", { class: "state", id: "live-state", role: "status" }, "connecting …");
    this.pause = h("button", { id: "live-pause", onclick: () => this.#ask(this.status?.state === "paused" ? "/go" : "/pause") }, "pause");
    this.step = h("button", { id: "live-step", title: "One query time", onclick: () => this.#ask("/step") }, "step");
    this.toNow = h("button", { id: "to-now", title: "Show the latest, and go on with it", hidden: true }, "→ now");
    this.numbers = h("span", { class: "soft", id: "live-numbers" });
    this.element = h("div", { id: "live", class: "noprint" }, this.state, h("span", { class: "buttons" }, this.pause, this.step, this.toNow), this.numbers);
    document.body.prepend(this.element);
  }

  async #ask(path) {
    const answer = await fetch(path, { method: "POST" });
    if (answer.ok) this.show(await answer.json(), this.clock);
  }

  show(status, clock) {
    Object.assign(this, { status, clock });
    const is = status.state;
    this.state.textContent = STATES[is];
    this.element.dataset.state = is;
    this.pause.textContent = is === "paused" ? "go on" : "pause";
    this.pause.disabled = this.step.disabled = is === "ended";
    const time = (point) => (clock ? clock.format(Number(BigInt(point) - clock.base)) : point);
    this.numbers.textContent = [
      status.query !== null && `query time ${time(status.query)}`,
      `${counted(status.queries, "query time")}, the last in ${inWords(status.last_seconds)}`,
      `${counted(status.lines, "line")}, ${status.lines_per_second.toLocaleString("en")} a second`,
      status.ahead > 0 && `${counted(status.ahead, "item")} for later query times`,
      status.letters > 0 && counted(status.letters, "dead letter"),
    ].filter(Boolean).join("  ·  ");
  }

  lost(closed) {
    this.element.dataset.state = "lost";
    this.state.textContent = closed ? "no connection: load the page again" : "no connection; trying again";
  }
}

/** What a live page has beside that of a run which is over. */
class LivePage {
  constructor({ model, timeline }, bar) {
    Object.assign(this, { model, timeline, version: model.data.live.version });
    $("timeline").before(
      h("section", { id: "now" },
        h("p", { id: "left-out", class: "soft" }),
        h("div", { class: "halves" },
          h("div", {}, h("h2", {}, "Holding now ", h("small", { class: "soft", id: "holding-count" })), h("div", { id: "holding-now", class: "held", tabindex: 0 })),
          h("div", {}, h("h2", {}, "Latest changes"), h("div", { id: "changes", class: "held", tabindex: 0 })),
        )));
    $("graph").before(h("section", { id: "costs" }, h("h2", {}, "What rules cost ", h("small", { class: "soft", id: "costs-say" })), h("div", { id: "costs-body", class: "held list", tabindex: 0 })));
    $("sections").prepend(h("a", { href: "#now" }, "Now"));
    $("nav-graph").before(h("a", { href: "#costs" }, "What rules cost"));
    model.ask = async (what, at) => {
      try {
        const answer = await fetch(`/why?${new URLSearchParams({ what, at })}`);
        return answer.ok ? await answer.json() : { problem: await answer.text() };
      } catch {
        return { problem: "Nobody answers." };
      }
    };
    model.on("data", () => this.#around());
    model.on("filter", () => this.#holding());
    onTheme(() => this.#holding());
    bar.toNow.hidden = false;
    bar.toNow.addEventListener("click", () => this.#toNow());
    this.#mine();
    this.#holding();
  }

  show(data) {
    this.version = data.live.version;
    this.model.replace(data);
  }

  /** Panels that stand around the timeline. */
  #around() {
    for (const panel of [heading, tiles, notes, streamChoice, revisions, findings, deadLetters]) panel(this.model);
    this.#mine();
  }

  #mine() {
    this.#leftOut();
    this.#changes();
    this.#costs();
  }

  #toNow() {
    const { model } = this, [from, to] = model.view, all = model.full[1];
    const length = Math.min(to - from, all / 4);
    model.point(null);
    model.look(all - length, all);
  }

  #time(text) {
    const { clock } = this.model;
    return clock.format(Number(BigInt(text) - clock.base));
  }

  #leftOut() {
    const { gone } = this.model.data.live;
    const says = [
      gone.spans && `${counted(gone.spans, "interval")} and events up to ${this.#time(gone.spans_until)}`,
      gone.queries && `what held up to ${this.#time(gone.spans_until)} (${counted(gone.queries, "query time")})`,
      gone.items && `${counted(gone.items, "item")} up to ${this.#time(gone.items_until)}`,
      gone.letters && counted(gone.letters, "dead letter"),
    ].filter(Boolean);
    $("left-out").textContent = says.length ? `The page keeps what is latest. It has let go of ${says.join(", of ")}.` : "";
  }

  /** What holds at the last query time, by name, as far as it is not filtered out. */
  #holding() {
    const { model } = this, { query } = model.data.live;
    const lanes = model.spans, shown = model.shown.get(lanes);
    const found = new Map();
    let all = 0;
    for (let lane = 0; lane < lanes.size; lane++) {
      if (!shown[lane]) continue;
      const row = lanes.offset[lane + 1] - 1;
      if (lanes.start[row] > query || (!lanes.isOpen(row) && lanes.end[row] <= query)) continue;
      const name = model.nameOf(lanes, lane);
      if (!found.has(name)) found.set(name, []);
      found.get(name).push({ lane, row });
      all += 1;
    }
    let room = MOST_HOLDING;
    const groups = [...found].sort(([a], [b]) => compare(a.text, b.text)).map(([name, some]) => {
      const listed = some.slice(0, room);
      room -= listed.length;
      const rest = some.length - listed.length;
      return h("div", { class: "holds" },
        h("h3", {}, h("i", { class: "dot", style: `background:${colourOf(name.number)}` }), name.text, " ", h("small", { class: "soft" }, some.length.toLocaleString("en"))),
        listed.map(({ lane, row }) => [" ", h("button", { class: "chip", onclick: () => this.#pick(lanes, lane, row) }, short(lanes.label(lane), name.text))]),
        rest ? h("span", { class: "soft" }, `and ${rest.toLocaleString("en")} more: search to see them`) : null,
      );
    });
    $("holding-count").textContent = all.toLocaleString("en");
    $("holding-now").replaceChildren(...(groups.length ? groups : [h("p", { class: "soft" }, "Nothing.")]));
  }

  #pick(lanes, lane, row) {
    this.model.select({ lanes, lane, row });
    this.timeline.reveal();
  }

  #changes() {
    const { data, clock, texts } = this.model;
    const rows = [], today = clock.format(data.live.query).slice(0, 11);
    const time = (point) => {
      const told = clock.format(point);
      return clock.size !== null && told.length > 11 && told.startsWith(today) ? told.slice(11) : told;
    };
    const came = new Set(data.live.changes.filter(([, op]) => op === "+").map(([query, , text, , start]) => `${query} ${text} ${start}`));
    const gone = new Set(data.live.changes.filter(([, op]) => op === "-").map(([query, , text, , start]) => `${query} ${text} ${start}`));
    for (const [query, op, text, lasting, start, end] of data.live.changes) {
      const key = `${query} ${text} ${start}`;
      if (op === "-" && came.has(key)) continue; // only its end is another one
      const lasts = lasting ? (end === null ? `from ${time(start)} on` : `${time(start)} – ${time(end)}`) : `at ${time(start)}`;
      const mark = op === "-" ? "−" : gone.has(key) ? "→" : "+";
      rows.push(h("tr", { class: op === "-" ? "gone" : null }, [time(query), mark, texts[text], lasts].map((cell, i) => h("td", { class: i === 2 ? "what" : null }, cell))));
    }
    $("changes").replaceChildren(rows.length
      ? h("table", { class: "numbers" }, h("thead", {}, h("tr", {}, ["known at", "", "what", "when"].map((cell) => h("th", {}, cell)))), h("tbody", {}, rows))
      : h("p", { class: "soft" }, "None so far."));
  }

  #costs() {
    const { costs } = this.model.data.live;
    $("costs-say").textContent = costs.by === "rule"
      ? `${inWords(costs.seconds)} so far, ${inWords(costs.elsewhere)} of it for taking in items and giving answers`
      : `${inWords(costs.seconds)} so far, for all rules together: this engine does not tell what each of them costs`;
    $("costs-body").hidden = !costs.rows.length;
    const most = costs.rows[0]?.seconds || 1;
    $("costs-body").replaceChildren(h("table", { class: "numbers" },
      h("thead", {}, h("tr", {}, ["", "seconds", "", "rows", "where"].map((text) => h("th", {}, text)))),
      h("tbody", {}, costs.rows.map((row) => h("tr", {},
        h("td", { class: "rule" }, h("code", {}, row.what)),
        h("td", {}, row.seconds.toFixed(3)),
        h("td", { class: "bar" }, h("i", { style: `width:${(100 * row.seconds) / most}%` })),
        h("td", {}, row.rows === null ? "" : row.rows.toLocaleString("en")),
        h("td", { class: "soft", title: row.place }, row.place.split("/").at(-1)),
      ))),
    ));
  }
}

/** What an entity's chip says, under the name of its fluent. */
function short(label, name) {
  const rest = label.startsWith(name) ? label.slice(name.length).replace(/=true$/, "") : label;
  return rest.replace(/^\((.*)\)(=.*)?$/s, "$1$2") || label;
}

function inWords(seconds) {
  if (seconds >= 10) return `${Math.round(seconds).toLocaleString("en")} s`;
  return seconds >= 1 ? `${seconds.toFixed(1)} s` : `${(seconds * 1000).toFixed(1)} ms`;
}
