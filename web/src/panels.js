// What stands around the timeline: tiles, names to filter by, revisions, findings, dead letters.

import { $, counted, h } from "./dom.js";
import { colourOf, onTheme } from "./theme.js";

const LISTED = 200; // rows of a list at first

export function heading(model) {
  const { about, title, queries } = model.data;
  document.title = title;
  $("title").textContent = title;
  const { clock } = model;
  const languages = { ec: "Event Calculus", lars: "LARS", combined: "Event Calculus and LARS" };
  const zone = clock.size === null ? "" : ", UTC";
  const parts = [
    about.rules.join(", "),
    `from ${clock.format(0)} until ${clock.format(model.last)}${zone}`,
    counted(queries.time.length, "query time"),
    `${languages[about.language]}, engine ${about.engine}`,
  ];
  $("about").textContent = parts.filter(Boolean).join("  ·  ");
}

export function tiles(model) {
  const { about, letters, revisions, diagnostics, streams } = model.data;
  const { items } = about;
  const warned = diagnostics.length;
  const share = items.items ? Math.round((100 * (items.late + items.too_late)) / items.items) : 0;
  const latest = (items.lateness ?? []).findLast((bin) => bin.items && bin.most > 0);
  const listed = [
    [model.spans.rows, "interval", "timeline", detailOf(model)],
    about.language !== "lars" && [model.points.rows, "derived event", "timeline", ""],
    [items.items, "item read", "over-time", model.data.items.detail === "none" ? "not shown here" : ""],
    [model.entities.length, "entity", "timeline", ""],
    [items.late + items.too_late, "late item", "over-time", latest ? `${share} %; came up to ${model.clock.duration(latest.most)} later` : ""],
    revisions.known && [revisions.number, "revision", "revisions", revisions.number ? "answers that changed later" : ""],
    [letters.number, "dead letter", "letters", letters.number ? "rows that were not used" : "", letters.number > 0],
    [warned, "finding", "findings", "", warned > 0],
    streams > 1 && [streams, "answer stream", "timeline", "at most, at one time"],
  ];
  $("tiles").replaceChildren(...listed.filter(Boolean).map(([number, what, place, more, warns]) =>
    h("a", { class: warns ? "tile warns" : "tile", href: `#${place}` },
      h("b", {}, number.toLocaleString("en")), h("span", {}, plural(number, what)), h("small", {}, more)),
  ));
}

function plural(number, what) {
  if (number === 1) return what;
  if (what === "entity") return "entities";
  return what === "item read" ? "items read" : `${what}s`;
}

function detailOf(model) {
  const open = model.spans.length ? model.spans.length.reduce((all, length) => all + (length === 0), 0) : 0;
  return open ? `${open.toLocaleString("en")} still open` : "";
}

/** What the page does not have, said where it would be looked for. */
export function notes(model) {
  const says = {
    counts: "The stream has too many items to show each: below are counts of them over time.",
    times: "The stream has many items: their times and lines are here, their further arguments are not.",
    none: "The items themselves are not on this page.",
    full: "",
  }[model.data.items.detail];
  $("detail").textContent = says;
}

/** Names with their colours; a click shows or hides one, with Alt it shows no other. */
export function chips(model) {
  const draw = () => {
    $("names").replaceChildren(...model.names.map((name) => h("button", {
      class: `chip ${name.kind}`, "aria-pressed": String(!model.off.has(name.key)),
      title: `${name.kind}; Alt and click: only this one`,
      onclick: (event) => toggle(model, name, event.altKey),
    }, h("i", { class: "dot", style: `background:${colourOf(name.number)}` }), name.text, h("small", {}, name.rows.toLocaleString("en")))));
    $("all-names").hidden = !model.isFiltered();
  };
  model.on("filter", draw);
  onTheme(draw);
  draw();
  $("all-names").addEventListener("click", () => {
    model.off.clear();
    model.search = $("search").value = "";
    model.filter();
  });
}

function toggle(model, name, only) {
  if (only) model.off = new Set(model.names.map((one) => one.key).filter((key) => key !== name.key));
  else if (model.off.has(name.key)) model.off.delete(name.key);
  else model.off.add(name.key);
  model.filter();
}

export function revisions(model) {
  const { data, clock, texts } = model;
  const found = data.revisions;
  const windows = data.queries;
  hide("revisions", found.known && !found.number && !windows.revised);
  if (!found.known) {
    $("revisions-body").replaceChildren(h("p", { class: "soft" }, `Not known: ${found.reason}.`));
    return;
  }
  const span = ([from, to]) => (to === null ? `from ${clock.format(from)} on` : `${clock.format(from)} – ${clock.format(to)}`);
  const says = found.number
    ? `${counted(found.number, "interval")} of earlier answers changed when more was known.`
    : "No answer changed later.";
  const on = found.wentOn ? ` ${counted(found.wentOn, "interval")} went on from one query time to the next, which is no revision.` : "";
  $("revisions-body").replaceChildren(
    h("p", {}, says + on),
    found.rows.length ? list(["known at", "what", "was", "is"], found.rows, (row) => [
      clock.format(row.query), texts[row.text], span(row.was), row.now.length ? row.now.map(span).join(", ") : "gone",
    ], found.number) : "",
    windowsTable(model),
  );
}

function windowsTable(model) {
  const { queries } = model.data;
  const names = ["on_time", "late", "too_late", "retracted", "outside_run", "revised"].filter((name) => queries[name]);
  if (!names.length) return "";
  const labels = { on_time: "on time", late: "late", too_late: "too late", retracted: "taken back", outside_run: "outside", revised: "answers replaced" };
  const rows = Array.from(queries.time, (_, i) => i);
  return h("details", { open: $("revisions-body").querySelector("details")?.open }, h("summary", {}, "Query by query"),
    list(["query time", ...names.map((name) => labels[name])], rows,
      (i) => [model.clock.format(queries.time[i]), ...names.map((name) => queries[name][i].toLocaleString("en"))], rows.length));
}

export function findings(model) {
  const { diagnostics } = model.data;
  hide("findings", !diagnostics.length);
  $("findings-body").replaceChildren(...diagnostics.map((one) => h("article", { class: one.severity },
    h("h4", {}, h("span", { class: "badge" }, `${one.severity} ${one.code}`), " ", one.message),
    one.file && h("div", { class: "soft place" }, `${one.file}:${one.line}:${one.column}`),
    one.text && h("pre", {}, one.text),
    one.note && h("p", { class: "soft" }, one.note),
    one.hint && h("p", {}, `Help: ${one.hint}`),
    h("p", { class: "soft" }, h("code", {}, `horai rule ${one.code}`), " says more."),
  )));
}

export function deadLetters(model) {
  const { letters } = model.data;
  hide("letters", !letters.number);
  if (!letters.number) return;
  const codes = Object.entries(letters.codes).sort((a, b) => b[1] - a[1]);
  $("letters-body").replaceChildren(
    h("p", {}, codes.map(([code, number]) => h("span", { class: "badge" }, `${code}: ${number.toLocaleString("en")}`))),
    list(["where", "code", "why", "row"], letters.rows,
      ([file, line, code, reason, text]) => [`${file}:${line}`, code, reason, text], letters.number),
  );
}

/** A table that shows its first rows, and more when asked; it says how many there are. */
function list(heads, rows, cells, all) {
  const body = h("tbody");
  const more = h("button", {}, "");
  let shown = 0;
  const grow = () => {
    for (const row of rows.slice(shown, shown + LISTED)) body.append(h("tr", {}, cells(row).map((text) => h("td", {}, text))));
    shown = Math.min(rows.length, shown + LISTED);
    const left = rows.length - shown, beyond = all - rows.length;
    more.hidden = !left;
    more.textContent = `${counted(left, "row")} more`;
    rest.textContent = !left && beyond > 0 ? `${counted(beyond, "row")} more are not on this page.` : "";
  };
  const rest = h("p", { class: "soft" });
  more.addEventListener("click", grow);
  grow();
  return h("div", { class: "list" }, h("table", {}, h("thead", {}, h("tr", {}, heads.map((text) => h("th", {}, text)))), body), more, rest);
}

function hide(id, hidden) {
  $(id).hidden = hidden;
  $(`nav-${id}`).hidden = hidden;
}

/** Which answer stream is shown, where a program has several. */
export function streamChoice(model) {
  const choice = $("stream");
  choice.parentElement.hidden = model.layers.length < 2;
  choice.replaceChildren(...model.layers.map((layer, i) => h("option", { value: i }, layer.label)));
  choice.value = Math.max(0, model.layers.indexOf(model.layer));
  choice.onchange = () => {
    model.select(null);
    model.show(Number(choice.value));
    tiles(model);
  };
}
