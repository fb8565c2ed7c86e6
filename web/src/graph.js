// What depends on what: a graph of fluents, events and atoms, laid out in columns by level.

import dagre from "@dagrejs/dagre";
import { $, h, svg } from "./dom.js";

const LETTER = 7.1, PAD = 12;

export class Graphs {
  constructor(model) {
    this.model = model;
    const { graphs } = model.data;
    $("graph").hidden = $("nav-graph").hidden = graphs.length === 0;
    this.number = 0;
    for (const graph of graphs) $("graphs").append(this.#figure(graph));
  }

  #figure(given) {
    const graph = byFluent(given);
    const placed = layout(graph);
    const { width, height } = placed.graph();
    const marks = { plain: `arrow${this.number}`, bar: `bar${this.number++}` };
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "what depends on what" },
      svg("defs", {}, marker(marks.plain, "M0,0 L8,4 L0,8 z"), marker(marks.bar, "M5,0 L7,0 L7,8 L5,8 z")));
    for (const box of graph.boxes) picture.append(...drawBox(box, placed.node(box.id)));
    const lines = placed.edges().map((edge) => this.#line(placed.edge(edge), edge, marks));
    picture.append(...lines.map((line) => line.element));
    const nodes = [...graph.nodes, ...graph.boxes.flatMap((box) => box.nodes)];
    for (const node of nodes) picture.append(this.#node(node, placed.node(node.id), lines, graph, picture));
    const legend = h("figcaption", { class: "soft" }, "Click a name to see only that; rest on it to see what it reads and what reads it. Dashed box: input. Bar: read negated. Dashed line: after a delay. Red box: they need each other.");
    return h("figure", {}, h("div", { class: "graph-scroll", tabindex: 0 }, picture), legend);
  }

  #line(edge, { v, w }, marks) {
    const points = edge.points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`);
    const look = `edge ${edge.arrow.negative ? "negative" : ""} ${edge.arrow.kind === "f" ? "later" : ""}`;
    const mark = edge.arrow.negative ? marks.bar : marks.plain;
    const title = edge.arrow.label ? svg("title", {}, `after ${edge.arrow.label}`) : "";
    const element = svg("path", { class: look, d: smooth(edge.points), "marker-end": `url(#${mark})`, "data-points": points.length }, title);
    return { element, from: edge.arrow.source, to: edge.arrow.target, v, w };
  }

  #node(node, { x, y, width, height }, lines, graph, picture) {
    const radius = node.style === "event" ? height / 2 : node.style === "simple" ? 6 : 0;
    const name = nameOf(node);
    const element = svg("g", { class: `node ${node.style}`, tabindex: 0, role: "button", "aria-label": node.label },
      svg("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: radius }),
      svg("text", { x, y: node.values ? y - 3 : y + 4, "text-anchor": "middle" }, node.label),
      node.values ? svg("text", { class: "values", x, y: y + 12, "text-anchor": "middle" }, node.values) : "",
      svg("title", {}, [name, node.note].filter(Boolean).join("; ")),
    );
    const mine = [node.id, graph.boxes.find((box) => box.nodes.includes(node))?.id];
    const light = (on) => {
      picture.classList.toggle("lit", on);
      for (const line of lines) line.element.classList.toggle("on", on && (mine.includes(line.from) || mine.includes(line.to)));
    };
    element.addEventListener("mouseenter", () => light(true));
    element.addEventListener("mouseleave", () => light(false));
    element.addEventListener("focus", () => light(true));
    element.addEventListener("blur", () => light(false));
    const pick = () => this.#only(name);
    element.addEventListener("click", pick);
    element.addEventListener("keydown", (event) => event.key === "Enter" && pick());
    return element;
  }

  #only(name) {
    const { model } = this;
    const keys = model.names.filter((one) => one.text === name).map((one) => one.key);
    if (!keys.length) return;
    model.off = new Set(model.names.map((one) => one.key).filter((key) => !keys.includes(key)));
    model.filter();
    $("timeline").scrollIntoView({ behavior: "smooth" });
  }
}

/** One node for a fluent with all its values, unless these need each other. */
function byFluent({ nodes, boxes, arrows }) {
  const merged = boxes.filter((box) => !box.cyclic);
  const into = new Map(merged.flatMap((box) => box.nodes.map((node) => [node.id, box.id])));
  const found = new Map();
  for (const arrow of arrows) {
    const [source, target] = [arrow.source, arrow.target].map((id) => into.get(id) ?? id);
    found.set([source, target, arrow.negative, arrow.kind].join(), { ...arrow, source, target });
  }
  const made = merged.map((box) => ({
    ...box.nodes[0], id: box.id, label: box.label, values: box.nodes.map((node) => node.label).join(" · "),
    note: box.nodes.map((node) => node.note).filter(Boolean).join("; "),
  }));
  return { nodes: [...nodes, ...made], boxes: boxes.filter((box) => box.cyclic), arrows: [...found.values()] };
}

/** The name that a node is about: `moving(_) = true` is about `moving`. */
function nameOf(node) {
  return node.label.split(/[(=/]/)[0].trim();
}

function layout(graph) {
  const made = new dagre.graphlib.Graph({ compound: true, multigraph: true });
  made.setGraph({ rankdir: "LR", nodesep: 12, ranksep: 64, edgesep: 8, marginx: 8, marginy: 8 });
  made.setDefaultEdgeLabel(() => ({}));
  const add = (node) => {
    const letters = Math.max(node.label.length, (node.values?.length ?? 0) * 0.9);
    made.setNode(node.id, { width: letters * LETTER + 2 * PAD, height: node.values ? 38 : 26 });
  };
  for (const node of graph.nodes) add(node);
  for (const box of graph.boxes) {
    made.setNode(box.id, { width: box.label.length * LETTER + PAD, height: 20 });
    for (const node of box.nodes) {
      add(node);
      made.setParent(node.id, box.id);
    }
  }
  // An arrow from or to a whole box is laid out from or to one of its nodes.
  const inside = new Map(graph.boxes.map((box) => [box.id, box.nodes[0].id]));
  const end = (id) => inside.get(id) ?? id;
  for (const [i, arrow] of graph.arrows.entries()) {
    if (end(arrow.source) !== end(arrow.target) || !inside.size) made.setEdge(end(arrow.source), end(arrow.target), { arrow }, String(i));
  }
  dagre.layout(made);
  return made;
}

function marker(id, d) {
  return svg("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, svg("path", { d, class: "tip" }));
}

function drawBox(box, { x, y, width, height }) {
  return [
    svg("rect", { class: box.cyclic ? "box cyclic" : "box", x: x - width / 2, y: y - height / 2, width, height, rx: 6 }),
    svg("text", { class: "box-label", x: x - width / 2 + 6, y: y - height / 2 + 10 }, box.label),
  ];
}

/** A curve through the middles of the lines between points. */
function smooth(points) {
  const [first, ...rest] = points;
  let path = `M${first.x},${first.y}`;
  for (let i = 0; i < rest.length - 1; i++) {
    const middle = { x: (rest[i].x + rest[i + 1].x) / 2, y: (rest[i].y + rest[i + 1].y) / 2 };
    path += ` Q${rest[i].x},${rest[i].y} ${middle.x},${middle.y}`;
  }
  const last = rest.at(-1);
  return `${path} L${last.x},${last.y}`;
}
