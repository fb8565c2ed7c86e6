// What is chosen, in a panel at the side: when it holds, what happened around it, and why.

import { $, counted, h, save } from "./dom.js";
import { proofTree } from "./proof.js";
import { colourOf } from "./theme.js";
import { spanText } from "./timeline.js";

const AROUND = 12; // events that are listed at most

export class Details {
  constructor(model, timeline) {
    Object.assign(this, { model, timeline, panel: $("details") });
    model.on("select", () => this.show());
    model.on("filter", () => {
      const chosen = model.selected;
      if (chosen && !model.stores.includes(chosen.lanes)) model.select(null);
    });
  }

  close() {
    if (this.model.selected) this.model.select(null);
  }

  show() {
    const chosen = this.model.selected, scrolled = this.panel.scrollTop;
    document.body.classList.toggle("with-details", chosen !== null);
    this.panel.hidden = chosen === null;
    if (!chosen) return;
    const { model } = this;
    const { lanes, lane, row } = chosen;
    const name = model.nameOf(lanes, lane);
    const parts = [
      h("button", { class: "close", "aria-label": "Close", onclick: () => this.close() }, "✕"),
      h("div", { class: "soft kind" }, h("i", { class: "dot", style: `background:${colourOf(name.number)}` }), KINDS[lanes.kind(lane)]),
      h("h3", {}, lanes.label(lane)),
      h("p", { id: "details-when" }, spanText(model, lanes, row)),
      this.#numbers(lanes, lane, row),
      this.#row(lanes, lane, row),
      this.#steps(lanes, lane, row),
      this.#entities(lanes, lane),
      this.#why(lanes, lane, row),
      lanes.lasting ? this.#around(lanes, lane, row) : null,
    ];
    this.panel.replaceChildren(...parts.filter(Boolean));
    this.panel.scrollTop = scrolled;
  }

  #numbers(lanes, lane, row) {
    const { clock } = this.model;
    if (!lanes.lasting) return null;
    const number = row - lanes.offset[lane] + 1, all = lanes.offset[lane + 1] - lanes.offset[lane];
    const points = [clock.point(lanes.start[row]), lanes.isOpen(row) ? "inf" : clock.point(lanes.end[row])];
    return h("dl", {},
      h("dt", {}, "time-points"), h("dd", {}, `[${points[0]}, ${points[1]})`),
      h("dt", {}, "of this"), h("dd", {}, `${number.toLocaleString("en")} of ${counted(all, "interval")}`),
    );
  }

  /** Where an item stood in the input, and its other arguments. */
  #row(lanes, lane, row) {
    const { file, line, arrival } = lanes.more;
    if (lanes !== this.model.items || !line) return null;
    const rest = lanes.argumentsOf(row, lane);
    const late = arrival[row] - Number(this.model.clock.base) - lanes.start[row];
    return h("dl", {},
      rest.length ? [h("dt", {}, "arguments"), h("dd", {}, [...lanes.args(lane).map((c) => this.model.texts[c]), ...rest].join(", "))] : null,
      h("dt", {}, "row"), h("dd", {}, `${this.model.texts[file[row]]}:${line[row]}`),
      late > 0 ? [h("dt", {}, "came"), h("dd", {}, `${this.model.clock.duration(late)} later`)] : null,
    );
  }

  #steps(lanes, lane, row) {
    const { model, timeline } = this;
    const go = (next) => () => {
      model.select({ lanes, lane, row: next });
      timeline.reveal();
    };
    const nearer = () => {
      const length = lanes.lasting ? lanes.end[row] - lanes.start[row] : 1;
      model.look(lanes.start[row] - length, lanes.start[row] + 2 * length);
    };
    return h("p", { class: "buttons" },
      h("button", { onclick: go(row - 1), disabled: row <= lanes.offset[lane] }, "← before"),
      h("button", { onclick: go(row + 1), disabled: row + 1 >= lanes.offset[lane + 1] }, "after →"),
      h("button", { onclick: nearer }, "zoom to it"),
    );
  }

  #entities(lanes, lane) {
    const found = this.model.entitiesOf(lanes, lane);
    if (!found.length) return null;
    return h("p", {}, "Only ", found.map((code) => [
      h("button", { class: "link", onclick: () => this.#only(this.model.texts[code]) }, this.model.texts[code]), " ",
    ]));
  }

  #only(text) {
    $("search").value = text;
    this.model.search = text;
    this.model.filter();
  }

  /** Events of its entities: those at and just before its start, and how many it has. */
  #around(lanes, lane, row) {
    const { model } = this;
    const mine = new Set(model.entitiesOf(lanes, lane));
    if (!mine.size) return null;
    const [start, end] = [lanes.start[row], lanes.end[row]];
    const found = [];
    let within = 0;
    for (const store of [model.points, model.items]) {
      if (store.weight) continue;
      for (const block of store.blocks) {
        for (let i = 0; i < block.lanes; i++) {
          if (!block.args.some((column) => mine.has(column[i]))) continue;
          const other = block.first + i;
          const last = store.firstFrom(other, start);
          within += store.firstFrom(other, end) - last;
          for (let r = Math.max(store.offset[other], last - 4); r < last; r++) found.push([store, other, r]);
        }
      }
    }
    if (!found.length && !within) return null;
    found.sort((a, b) => a[0].start[a[2]] - b[0].start[b[2]]);
    return h("section", {},
      h("h4", {}, "Events before it starts"),
      h("ul", { class: "events" }, found.slice(-AROUND).map(([store, other, r]) => h("li", {},
        h("button", { class: "link", onclick: () => this.#pick(store, other, r) }, store.label(other)),
        " ", h("span", { class: "soft" }, this.#before(start - store.start[r])),
        " ", h("span", { class: "soft" }, store === model.items ? store.argumentsOf(r, other).join(", ") : ""),
      ))),
      h("p", { class: "soft" }, `${counted(within, "event")} of ${[...mine].map((c) => model.texts[c]).join(", ")} while it holds`),
    );
  }

  #before(points) {
    return `${this.model.clock.duration(points)} before`;
  }

  #pick(lanes, lane, row) {
    this.model.select({ lanes, lane, row });
    this.timeline.reveal();
  }

  /** The proof if the page has it, else the command that gives it. */
  #why(lanes, lane, row) {
    const { model } = this;
    if (model.ask) return lanes === model.items ? null : this.#asked(lanes, lane, row);
    const key = lanes === model.layers[0].spans ? row : null;
    const proof = key === null ? null : model.data.proofs?.trees?.[key];
    const command = this.#command(lanes, lane, row);
    if (!proof && !command) return null;
    return h("section", { id: "why" },
      h("h4", {}, "Why"),
      proof ? proofTree(proof, model) : h("p", { class: "soft" }, model.data.proofs
        ? `This page has the proofs of ${counted(model.data.proofs.number, "interval")}. For this one ask:`
        : "Ask on the command line:"),
      command && h("div", { class: "command" }, h("code", {}, command), h("button", { onclick: (event) => copy(event.target, command) }, "copy")),
    );
  }

  /** The proof of somebody who is asked for it; what he has said stays, and what is open in it. */
  #asked(lanes, lane, row) {
    const { model } = this;
    const what = lanes.label(lane, quotedName), at = model.clock.point(lanes.start[row]);
    const key = [what, at, lanes.lasting && lanes.length[row]].join();
    if (this.answer?.key === key) return this.answer.element;
    const element = h("section", { id: "why" }, h("h4", {}, "Why"), h("p", { class: "soft" }, "Asking …"));
    this.answer = { key, element };
    model.ask(what, at).then((said) => element.lastChild.replaceWith(said.proof ? proofTree(said.proof) : this.#none(said)));
    return element;
  }

  #none({ problem, until }) {
    const { clock } = this.model;
    const kept = until && `The page has let go of items up to ${clock.format(Number(BigInt(until) - clock.base))}: what rests on them has no proof here.`;
    return h("div", { class: "soft" }, h("p", {}, problem), kept ? h("p", {}, kept) : null);
  }

  #command(lanes, lane, row) {
    const begin = this.model.data.about.command;
    if (!begin || lanes === this.model.items) return null;
    return `${begin} ${quoted(lanes.label(lane))} --at ${this.model.clock.point(lanes.start[row])}`;
  }
}

const KINDS = {
  fluent: "fluent", atom: "atom of a program", input: "fluent of the input", event: "event that rules derive",
  item: "item of the input", retraction: "item that was taken back",
};

/** A name as rules write it. */
function quotedName(name) {
  return /^[a-z][A-Za-z0-9_]*$/.test(name) ? name : `'${name.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch {
    save("command.txt", [text], "text/plain"); // pages from files may not use the clipboard everywhere
  }
}
