// A proof as a tree that opens: statements, the rules and rows they come from, what they follow from.

import { h } from "./dom.js";

/** The tree of a proof, in the form that docs/why.md describes. */
export function proofTree(proof) {
  return h("ul", { class: "proof" }, node(proof, 0));
}

function node(proof, depth) {
  const place = proof.row ?? proof.rule;
  const head = [
    h("span", { class: proof.met === false ? "unmet" : "met" }, proof.met === false ? "✗" : "✓"), " ",
    proof.says ?? proof.text,
    place && h("div", { class: "soft place" }, `${place.file}:${place.line}  ${place.text}`),
    proof.note && h("div", { class: "soft" }, proof.note),
  ];
  if (!proof.premises?.length) return h("li", {}, head);
  return h("li", {}, h("details", { open: depth < 2 },
    h("summary", {}, head),
    h("ul", {}, proof.premises.map((premise) => node(premise, depth + 1))),
  ));
}
