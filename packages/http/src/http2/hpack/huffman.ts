/**
 * Decodes the Huffman code of HPACK four bits at a time (RFC 7541 section 5.2). The shortest code has five bits, so one
 * step ends at most one symbol. The table has 256 × 16 entries, which stay in the first cache of the CPU.
 */

/** The length of the code of each byte, and of the end of the string (RFC 7541 appendix B). */
const CODE_LENGTHS = [
  ...[13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28],
  ...[28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28],
  ...[6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6],
  ...[5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10],
  ...[13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7],
  ...[7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6],
  ...[15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5],
  ...[6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28],
  ...[20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23],
  ...[24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24],
  ...[22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23],
  ...[21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23],
  ...[26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25],
  ...[19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27],
  ...[20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23],
  ...[26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26],
  30,
];

/** The symbol that must not occur in a string. */
const END_OF_STRING = 256;
/** The longest padding, in bits. */
const MAX_PADDING = 7;

/** Parts of an entry: the symbol in the lowest eight bits, three flags, and the next node above them. */
const HAS_SYMBOL = 0x100;
const IS_INVALID = 0x200;
/** Whether a string may end here: the bits since the last symbol are the first bits of the longest code. */
const MAY_END = 0x400;
const NODE_SHIFT = 11;

const STEPS = buildSteps();

/**
 * Decodes a string into `out`, from its start.
 *
 * @param out has room for 8 bytes for each 5 of the code
 * @returns the number of bytes, or -1 if the code is invalid: it contains the end of the string, or its padding is wrong
 */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number, out: Buffer): number {
  let node = 0;
  let length = 0;
  let step = MAY_END;
  let seen = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    step = STEPS[(node << 4) | (byte >> 4)] ?? 0;
    seen |= step;
    if ((step & HAS_SYMBOL) !== 0) out[length++] = step & 0xff;
    step = STEPS[((step >> NODE_SHIFT) << 4) | (byte & 0xf)] ?? 0;
    seen |= step;
    if ((step & HAS_SYMBOL) !== 0) out[length++] = step & 0xff;
    node = step >> NODE_SHIFT;
  }
  return (seen & IS_INVALID) !== 0 || (step & MAY_END) === 0 ? -1 : length;
}

/** The code is canonical: codes of one length are consecutive, in the order of their symbols. */
function canonicalCodes() {
  const symbols = CODE_LENGTHS.map((length, symbol) => ({ symbol, length }));
  symbols.sort((a, b) => a.length - b.length || a.symbol - b.symbol);
  let code = 0;
  let before = 0;
  return symbols.map(({ symbol, length }) => {
    code <<= length - before;
    before = length;
    const own = code;
    code += 1;
    return { symbol, length, code: own };
  });
}

/** Children of each inner node, two for each: an inner node if positive, the complement of a symbol if negative. */
function buildTree(): Int16Array {
  const children = new Int16Array(2 * CODE_LENGTHS.length);
  let nodes = 1;
  for (const { symbol, code, length } of canonicalCodes()) {
    let node = 0;
    for (let bit = length - 1; bit > 0; bit -= 1) {
      const at = 2 * node + ((code >> bit) & 1);
      if (children[at] === 0) {
        children[at] = nodes;
        nodes += 1;
      }
      node = children[at] ?? 0;
    }
    children[2 * node + (code & 1)] = ~symbol;
  }
  return children;
}

/** The entry for each inner node and four bits. */
function buildSteps(): Int32Array {
  const tree = buildTree();
  const inner = CODE_LENGTHS.length - 1;
  const mayEnd = new Set<number>();
  for (let padding = 0, node = 0; padding <= MAX_PADDING; padding += 1) {
    mayEnd.add(node);
    node = tree[2 * node + 1] ?? 0;
  }
  const steps = new Int32Array(inner * 16);
  for (let start = 0; start < inner; start += 1) {
    for (let bits = 0; bits < 16; bits += 1) {
      let node = start;
      let found = 0;
      for (let bit = 3; bit >= 0; bit -= 1) {
        const child = tree[2 * node + ((bits >> bit) & 1)] ?? 0;
        if (child < 0) found = ~child === END_OF_STRING ? IS_INVALID : HAS_SYMBOL | ~child;
        node = Math.max(0, child);
      }
      steps[start * 16 + bits] = (node << NODE_SHIFT) | found | (mayEnd.has(node) ? MAY_END : 0);
    }
  }
  return steps;
}
