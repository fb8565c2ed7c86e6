// Elements, made without any text ever being read as HTML.

/** An element with properties (`class`, `onclick`, `aria-label`, ...) and children. */
export function h(tag, properties = {}, ...children) {
  const found = document.createElement(tag);
  set(found, properties);
  found.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return found;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, properties = {}, ...children) {
  const found = document.createElementNS(SVG, tag);
  set(found, properties);
  found.append(...children.flat(Infinity));
  return found;
}

function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") element.style.cssText = value; // an attribute would need a policy that lets it
    else element.setAttribute(name, value === true ? "" : value);
  }
}

export const $ = (id) => document.getElementById(id);

let waits = true;

/** Do something whose drawing cannot wait for the next picture. */
export function atOnce(work) {
  waits = false;
  work();
  waits = true;
}

/** Work that is done once before the next picture, however often it is asked for. */
export function oncePerFrame(work) {
  let asked = false;
  return () => {
    if (!waits) return work();
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

/** A canvas as large as its element, with as many points as the screen has. */
export function fit(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, t] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== t) {
    canvas.width = w;
    canvas.height = t;
  }
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const drawing = canvas.getContext("2d");
  drawing.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawing.clearRect(0, 0, width, height);
  drawing.font = "12px system-ui, sans-serif";
  drawing.textBaseline = "middle";
  return drawing;
}

/** Words with a number: `1 row`, `2 rows`. */
export function counted(number, what) {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}

export function save(name, parts, type) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Text with an ellipsis where there is no room for it. */
export function clipped(drawing, text, room) {
  if (drawing.measureText(text).width <= room) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (drawing.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}
