// The page comes to life: data is unpacked, every part is made, and keys are listened to.

import { Charts } from "./charts.js";
import { unpack } from "./data.js";
import { Details } from "./details.js";
import { $ } from "./dom.js";
import { Graphs } from "./graph.js";
import { live } from "./live.js";
import { MapView } from "./map.js";
import { Model } from "./model.js";
import { chips, deadLetters, findings, heading, notes, revisions, streamChoice, tiles } from "./panels.js";
import { Table } from "./table.js";
import { toggleTheme, watchTheme } from "./theme.js";
import { Timeline } from "./timeline.js";

async function start() {
  watchTheme();
  const element = $("data");
  if (!element) return live(open);
  const data = await unpack(element.textContent);
  element.remove();
  open(data);
}

/** Make all parts of the page. */
function open(data) {
  const model = new Model(data);
  heading(model);
  tiles(model);
  notes(model);
  streamChoice(model);
  chips(model);
  $("loading").remove();
  $("page").hidden = false;
  const timeline = new Timeline(model);
  const details = new Details(model, timeline);
  revisions(model);
  findings(model);
  deadLetters(model);
  new MapView(model, timeline);
  new Graphs(model);
  new Charts(model);
  new Table(model, (found) => {
    model.select(found);
    timeline.reveal();
  });
  controls(model, timeline);
  keys(model, timeline, details);
  requestAnimationFrame(() => (document.documentElement.dataset.ready = "1")); // all is drawn then
  return { model, timeline };
}

function controls(model, timeline) {
  let waiting = null;
  $("search").addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      model.search = event.target.value;
      model.filter();
    }, model.spans.size > 50_000 ? 220 : 30);
  });
  $("grouping").addEventListener("change", (event) => timeline.regroup(event.target.value));
  $("open-all").addEventListener("click", () => timeline.openAll(true));
  $("close-all").addEventListener("click", () => timeline.openAll(false));
  $("zoom-in").addEventListener("click", () => model.zoom(0.5));
  $("zoom-out").addEventListener("click", () => model.zoom(2));
  $("zoom-all").addEventListener("click", () => model.look(...model.full));
  $("theme").addEventListener("click", toggleTheme);
  $("print").addEventListener("click", () => print());
  $("help").addEventListener("click", () => $("keys").showModal());
  $("go-to").addEventListener("change", (event) => {
    const time = model.clock.read(event.target.value);
    event.target.setCustomValidity(time === null ? "a time-point, or a date and time" : "");
    if (time === null) return event.target.reportValidity();
    const [from, to] = model.view, length = Math.min(to - from, model.full[1] / 10);
    model.point(time);
    model.look(time - length / 2, time + length / 2);
  });
}

function keys(model, timeline, details) {
  const actions = {
    "/": () => $("search").focus(),
    "+": () => model.zoom(0.5),
    "=": () => model.zoom(0.5),
    "-": () => model.zoom(2),
    "0": () => model.look(...model.full),
    g: () => {
      $("grouping").value = model.grouping === "entity" ? "name" : "entity";
      timeline.regroup($("grouping").value);
    },
    t: () => timeline.scroll.focus(),
    d: toggleTheme,
    "?": () => $("keys").showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !$("keys").open) {
      if (document.activeElement === $("search")) $("search").blur();
      else details.close();
      return;
    }
    const writes = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
    if (writes || event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

start().catch((problem) => {
  $("loading").textContent = `This page needs a newer browser, or is not whole: ${problem.message}`;
  throw problem;
});
