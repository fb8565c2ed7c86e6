// Times as people read them: dates and times of day where the unit is known, else plain numbers.

const SECOND = 1e3, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const UNITS = { ns: 1e-6, us: 1e-3, ms: 1, s: SECOND, min: MINUTE, h: HOUR, d: DAY };
const NANOSECONDS = {
  ns: 1n, us: 1_000n, ms: 1_000_000n, s: 1_000_000_000n, min: 60_000_000_000n,
  h: 3_600_000_000_000n, d: 86_400_000_000_000n,
};
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14].map((n) => n * DAY),
];
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200];
const NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const FARTHEST = 8.64e15; // what a Date can say

export class Clock {
  constructor({ base, unit, last }) {
    this.base = BigInt(base);
    this.last = last;
    this.size = unit ? UNITS[unit] : null; // of a time-point, in milliseconds
    this.unit = unit;
    if (unit) {
      this.first = Number((this.base * NANOSECONDS[unit]) / 1_000_000n);
      const far = Math.max(Math.abs(this.first), Math.abs(this.first + last * this.size));
      if (far >= FARTHEST) this.size = null;
    }
  }

  /** The time-point itself, as commands take it. */
  point(offset) {
    return (this.base + BigInt(Math.round(offset))).toString();
  }

  /** A time-point, in full. */
  format(offset) {
    if (this.size === null) return this.point(offset);
    const iso = this.#iso(offset);
    const [day, time] = [iso.slice(0, -14), iso.slice(-13, -1)];
    if (this.unit === "d") return day;
    const digits = { ms: 3, us: 6, ns: 9 }[this.unit];
    if (!digits) return `${day} ${time.slice(0, 8)}`;
    const nanos = (this.base + BigInt(Math.round(offset))) * NANOSECONDS[this.unit];
    const rest = ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
    return `${day} ${time.slice(0, 8)}.${rest.toString().padStart(9, "0").slice(0, digits)}`;
  }

  #iso(offset) {
    return new Date(Math.floor(this.first + Math.round(offset) * this.size)).toISOString();
  }

  /** A length of time. */
  duration(points) {
    if (this.size === null) return Math.round(points).toLocaleString("en");
    const length = points * this.size;
    if (length < 1) return `${(length * 1e3).toFixed(this.unit === "ns" ? 3 : 0)} µs`;
    if (length < SECOND) return `${+length.toFixed(3)} ms`;
    if (length < MINUTE) return `${+(length / SECOND).toFixed(3)} s`;
    const parts = [[DAY, "d"], [HOUR, "h"], [MINUTE, "min"], [SECOND, "s"]];
    const first = parts.findIndex(([size]) => length >= size);
    const [size, name] = parts[first];
    const whole = Math.floor(length / size);
    const next = parts[first + 1];
    const rest = next ? Math.floor((length - whole * size) / next[0]) : 0;
    return rest ? `${whole} ${name} ${rest} ${next[1]}` : `${whole} ${name}`;
  }

  /** Round times between two, about as many as there is room for, each with a short label. */
  ticks(from, to, room) {
    const rough = (to - from) / Math.max(1, room);
    if (this.size === null) return this.#numbers(from, to, rough);
    const wanted = rough * this.size;
    const step = STEPS.find((size) => size >= wanted && size >= this.size);
    if (wanted < 1) return this.#numbers(from, to, rough, (t) => this.format(t).slice(11));
    return step ? this.#clockTicks(from, to, step) : this.#months(from, to, wanted);
  }

  #numbers(from, to, rough, label = (t) => this.point(t)) {
    const step = Math.max(1, roundUp(rough));
    const shift = Number(((this.base % BigInt(step)) + BigInt(step)) % BigInt(step));
    const found = [];
    for (let t = Math.ceil((from + shift) / step) * step - shift; t <= to; t += step) {
      found.push({ time: t, label: label(t) });
    }
    return found;
  }

  #clockTicks(from, to, step) {
    const shift = step === 7 * DAY || step === 14 * DAY ? 4 * DAY : 0; // weeks begin on Mondays
    const begin = this.first + from * this.size - shift;
    const found = [];
    for (let k = Math.ceil(begin / step); ; k++) {
      const moment = k * step + shift;
      const time = (moment - this.first) / this.size;
      if (time > to || found.length > 400) return found;
      const date = new Date(moment);
      const midnight = moment % DAY === 0;
      found.push({ time, label: midnight ? dayOf(date) : clockOf(date, step), major: midnight });
    }
  }

  #months(from, to, wanted) {
    const step = MONTHS.find((n) => n * 30.4 * DAY >= wanted) ?? MONTHS.at(-1);
    const begin = new Date(this.first + from * this.size);
    let month = begin.getUTCFullYear() * 12 + begin.getUTCMonth();
    month = Math.ceil(month / step) * step;
    const found = [];
    for (; ; month += step) {
      const moment = Date.UTC(2000, month - 24000);
      const time = (moment - this.first) / this.size;
      if (!(time <= to) || found.length > 400) return found;
      const year = Math.floor(month / 12), rest = month % 12;
      found.push({ time, label: rest ? `${NAMES[rest]} ${year}` : String(year), major: !rest });
    }
  }

  /** The time-point that somebody means, null if it is none: a number, or a date and time. */
  read(text) {
    const given = text.trim();
    if (/^-?[0-9]+$/.test(given)) return Number(BigInt(given) - this.base);
    if (this.size === null || !/^[0-9]{4}-[0-9]{2}/.test(given)) return null;
    const zone = /[Zz]|[+-][0-9]{2}:?[0-9]{2}$/.test(given.slice(10)) ? "" : "Z";
    const form = given.length <= 10 ? given : given.replace(" ", "T") + zone;
    const moment = Date.parse(form);
    return Number.isNaN(moment) ? null : Math.floor((moment - this.first) / this.size);
  }
}

function dayOf(date) {
  const first = date.getUTCMonth() === 0 && date.getUTCDate() === 1;
  const day = `${date.getUTCDate()} ${NAMES[date.getUTCMonth()]}`;
  return first ? `${day} ${date.getUTCFullYear()}` : day;
}

function clockOf(date, step) {
  const time = date.toISOString().slice(11, -1);
  return step < SECOND ? time : time.slice(0, step % MINUTE ? 8 : 5);
}

/** The next of 1, 2, 5, 10, 20, 50, ... */
export function roundUp(number) {
  const power = 10 ** Math.floor(Math.log10(Math.max(number, 1e-300)));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= number * (1 - 1e-9));
}
