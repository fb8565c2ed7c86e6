// Lanes drawn in as much detail as there are points on the screen: nothing is ever left out.
//
// Where there are fewer intervals than points across, each of them is drawn. Where there are more,
// each point across shows how much of its stretch of time is covered; one interval is enough for
// it to be seen. Headings show how many of their lanes' intervals meet each stretch: two searches in
// sorted columns.

import { theme } from "./theme.js";

const SHORTEST = 2; // points across of an interval, however short it is

/** From time to points across. */
export class Scale {
  constructor([from, to], left, width) {
    Object.assign(this, { from, to, left, width, per: width / (to - from) });
  }

  x(time) {
    return this.left + (time - this.from) * this.per;
  }

  time(x) {
    return this.from + (x - this.left) / this.per;
  }
}

/** The intervals of a lane that are seen, drawn from a height. */
export function drawSpans(drawing, lanes, lane, scale, y, height, colour) {
  const low = lanes.firstAfter(lane, scale.from);
  const high = lanes.firstFrom(lane, scale.to);
  drawing.fillStyle = colour;
  if (high - low <= scale.width / 2) {
    for (let row = low; row < high; row++) {
      const left = Math.max(scale.x(lanes.start[row]), scale.left);
      const right = Math.min(scale.x(lanes.end[row]), scale.left + scale.width);
      drawing.globalAlpha = 0.88;
      drawing.fillRect(left, y, Math.max(right - left, SHORTEST), height);
      if (lanes.isOpen(row)) arrow(drawing, right, y, height);
    }
    drawing.globalAlpha = 1;
    return high - low;
  }
  let row = low;
  for (let x = 0; x < scale.width; x++) {
    const from = scale.from + x / scale.per, to = from + 1 / scale.per;
    let covered = 0, met = false;
    while (row < high && lanes.start[row] < to) {
      met = true;
      covered += Math.min(lanes.end[row], to) - Math.max(lanes.start[row], from);
      if (lanes.end[row] > to) break; // it reaches into the next point
      row += 1;
    }
    if (!met) continue;
    drawing.globalAlpha = 0.35 + 0.6 * Math.min(1, covered / (to - from));
    drawing.fillRect(scale.left + x, y, 1, height);
  }
  drawing.globalAlpha = 1;
  return high - low;
}

/** An interval that is still open goes on to the right. */
function arrow(drawing, x, y, height) {
  drawing.globalAlpha = 1;
  drawing.fillStyle = theme.page;
  drawing.beginPath();
  drawing.moveTo(x - 6, y + 3);
  drawing.lineTo(x - 2, y + height / 2);
  drawing.lineTo(x - 6, y + height - 3);
  drawing.closePath();
  const colour = drawing.fillStyle;
  drawing.fill();
  drawing.fillStyle = colour;
}

/** The points of a lane that are seen: marks where there is room, and else bars by how many. */
export function drawPoints(drawing, lanes, lane, scale, y, height, colour) {
  const low = lanes.firstFrom(lane, Math.floor(scale.from));
  const high = lanes.firstFrom(lane, Math.ceil(scale.to) + 1);
  drawing.fillStyle = colour;
  if (high - low <= scale.width / 5 && !lanes.weight) {
    const half = Math.min(height / 2, 4), middle = y + height / 2;
    drawing.globalAlpha = 0.9;
    for (let row = low; row < high; row++) {
      const x = scale.x(lanes.start[row] + 0.5);
      if (x < scale.left) continue;
      drawing.beginPath();
      drawing.moveTo(x, middle - half);
      drawing.lineTo(x + half, middle);
      drawing.lineTo(x, middle + half);
      drawing.lineTo(x - half, middle);
      drawing.fill();
    }
    drawing.globalAlpha = 1;
    return high - low;
  }
  const counts = new Float64Array(Math.ceil(scale.width / 2));
  for (let row = low; row < high; row++) {
    const x = Math.floor((scale.x(lanes.start[row] + 0.5) - scale.left) / 2);
    if (x >= 0 && x < counts.length) counts[x] += lanes.weight ? lanes.weight[row] : 1;
  }
  bars(drawing, counts, scale, 2, y, height, colour);
  return high - low;
}

/** Numbers as bars; what is not 0 can be seen. */
export function bars(drawing, counts, scale, width, y, height, colour, most = null) {
  const top = most ?? counts.reduce((a, b) => Math.max(a, b), 1);
  drawing.fillStyle = colour;
  for (let i = 0; i < counts.length; i++) {
    if (!counts[i]) continue;
    const tall = Math.max(2, height * Math.sqrt(counts[i] / top));
    drawing.fillRect(scale.left + i * width, y + height - tall, width, tall);
  }
}

/** The numbers of several tallies, in stretches of some points across. */
export function together(tallies, scale, width) {
  const counts = new Float64Array(Math.ceil(scale.width / width));
  const one = new Float64Array(counts.length);
  for (const tally of tallies) {
    tally.bins(scale.from, scale.time(scale.left + counts.length * width), counts.length, one);
    for (let i = 0; i < counts.length; i++) counts[i] += one[i];
  }
  return counts;
}

/** A line of times, and lines down from them. */
export function drawAxis(drawing, clock, scale, top, bottom) {
  const sample = drawing.measureText(clock.size === null ? clock.point(scale.to) : "00:00:00").width;
  const ticks = clock.ticks(scale.from, scale.to, scale.width / (sample + 34));
  drawing.textAlign = "center";
  for (const { time, label, major } of ticks) {
    const x = Math.round(scale.x(time)) + 0.5;
    if (x < scale.left - 1) continue;
    drawing.fillStyle = theme.rule;
    drawing.fillRect(x - 0.5, top + 20, 1, bottom - top - 20);
    drawing.fillStyle = major ? theme.ink : theme.soft;
    const half = drawing.measureText(label).width / 2;
    const within = Math.min(Math.max(x, scale.left + half), scale.left + scale.width - half);
    drawing.fillText(label, within, top + 11);
  }
  drawing.textAlign = "left";
}
