// What the page shows, unpacked: columns as typed arrays, and lanes of intervals or points.

/** The header of the container in the page, with its columns as typed arrays. */
export const unpack = (text) => unpacked(fromBase64(text));

/** The same of a container that comes as it is. */
export async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  return withColumns(header, buffer, 8 + length);
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f8: Float64Array };

function withColumns(value, buffer, at) {
  if (value === null || typeof value !== "object") return value;
  if (value.$) {
    const [place, rows, type, delta] = value.$;
    const column = new TYPES[type](buffer, at + place, rows);
    if (delta) for (let i = 1; i < rows; i++) column[i] += column[i - 1]; // wraps as it was packed
    return column;
  }
  for (const key of Object.keys(value)) {
    if (key !== "texts" || typeof value[key]?.[0] !== "string") {
      value[key] = withColumns(value[key], buffer, at);
    }
  }
  return value;
}

/** Lanes of intervals, or of points in time where `length` is null. Times count from the base. */
export class Lanes {
  constructor(packed, texts, last) {
    this.texts = texts;
    this.blocks = packed.blocks;
    this.start = packed.start;
    this.rows = packed.start.length;
    this.lasting = packed.length !== null;
    this.weight = packed.weight ?? null;
    this.more = { file: packed.file, line: packed.line, arrival: packed.arrival };
    this.size = packed.rows.length;
    this.offset = new Uint32Array(this.size + 1);
    for (let i = 0; i < this.size; i++) this.offset[i + 1] = this.offset[i] + packed.rows[i];
    this.block = new Uint16Array(this.size);
    let first = 0;
    for (const [number, block] of this.blocks.entries()) {
      block.first = first;
      block.row = this.offset[first];
      this.block.fill(number, first, first + block.lanes);
      first += block.lanes;
    }
    this.length = packed.length;
    this.end = this.lasting ? this.#ends(packed.length, last) : packed.start;
    this.last = last;
    this.labels = new Array(this.size);
  }

  /** Where intervals end; what is open ends after all else. */
  #ends(length, last) {
    const end = new Float64Array(this.rows);
    for (let i = 0; i < this.rows; i++) end[i] = length[i] ? this.start[i] + length[i] : last + 1;
    return end;
  }

  isOpen(row) {
    return this.lasting && this.length[row] === 0;
  }

  kind(lane) {
    return this.blocks[this.block[lane]].kind;
  }

  name(lane) {
    return this.texts[this.blocks[this.block[lane]].name];
  }

  /** The texts of the arguments, as numbers. */
  args(lane) {
    const block = this.blocks[this.block[lane]];
    return block.args.map((column) => column[lane - block.first]);
  }

  value(lane) {
    const block = this.blocks[this.block[lane]];
    return block.value ? this.texts[block.value[lane - block.first]] : null;
  }

  /** What a lane is about, as people write it, or with its name as somebody else does. */
  label(lane, named = null) {
    return named ? this.#label(lane, named) : (this.labels[lane] ??= this.#label(lane, String));
  }

  #label(lane, named) {
    const args = this.args(lane).map((code) => this.texts[code]);
    const value = this.value(lane);
    const name = named(this.name(lane)) + (args.length ? `(${args.join(",")})` : "");
    const label = value === null ? name : `${name}=${value}`;
    return this.kind(lane) === "retraction" ? `${label} taken back` : label;
  }

  /** The arguments of a row beside those of its lane, as texts; null if the page has none. */
  argumentsOf(row, lane) {
    const block = this.blocks[this.block[lane]];
    const place = row - block.row;
    return block.arguments.map((column) =>
      column.texts ? this.texts[column.texts[place]] : decimal(column.decimals[place]),
    );
  }

  /** The first row of a lane that ends after a time. */
  firstAfter(lane, time) {
    return bound(this.end, time, this.offset[lane], this.offset[lane + 1], !this.lasting);
  }

  /** The first row of a lane that starts at a time or later. */
  firstFrom(lane, time) {
    return bound(this.start, time, this.offset[lane], this.offset[lane + 1], true);
  }
}

function decimal(number) {
  return Number.isInteger(number) && Math.abs(number) < 1e16 ? `${number}.0` : String(number);
}

/** The first place whose number is above a limit, or with `equal` at least the limit. */
export function bound(column, limit, low, high, equal = false) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle] > limit || (equal && column[middle] === limit)) high = middle;
    else low = middle + 1;
  }
  return low;
}
