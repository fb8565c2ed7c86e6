// Colours: those of the page, which canvases draw with too, and one for each name.

import { atOnce } from "./dom.js";

// For eyes of all kinds, and light and dark ground; further names get colours around the circle.
const NAMED = [
  ["#2b6cb0", "#63a4e8"], ["#c05621", "#f0915a"], ["#2f855a", "#5cc08a"], ["#97266d", "#dd7bb6"],
  ["#b7791f", "#e5b454"], ["#5a4fcf", "#9d93f5"], ["#0f7c8a", "#4cc3d1"], ["#9b2c2c", "#f08080"],
  ["#5f6f1f", "#b0c356"], ["#6b4f3a", "#c9a58a"],
];

export const theme = { dark: false, ink: "", soft: "", rule: "", page: "", panel: "", accent: "" };
const listeners = [];

export function onTheme(listener) {
  listeners.push(listener);
}

/** Read the colours of the page anew. */
export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "soft", "rule", "page", "panel", "accent"]) {
    theme[name] = style.getPropertyValue(`--${name}`).trim();
  }
  theme.dark = style.getPropertyValue("--is-dark").trim() === "1";
  for (const listener of listeners) listener();
}

export function watchTheme() {
  readTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readTheme);
  // Paper is light, whatever the screen is, and nobody waits for a picture.
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printing");
    atOnce(readTheme);
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    readTheme();
  });
}

export function toggleTheme() {
  document.documentElement.dataset.theme = theme.dark ? "light" : "dark";
  readTheme();
}

/** The colour of the name with a number. */
export function colourOf(number) {
  if (number < NAMED.length) return NAMED[number][theme.dark ? 1 : 0];
  const hue = (number * 137.508) % 360;
  return theme.dark ? `hsl(${hue} 62% 68%)` : `hsl(${hue} 58% 40%)`;
}
