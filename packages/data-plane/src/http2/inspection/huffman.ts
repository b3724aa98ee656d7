/**
 * The Huffman code of HPACK as a table that decodes four bits at a time. The shortest code has five bits, so a step ends
 * at most one symbol.
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

/** The symbol that must not occur in a string (RFC 7541 section 5.2). */
const END_OF_STRING = 256;
/** The longest padding, in bits. */
const MAX_PADDING = 7;

/** The value of a step that ends no symbol. */
export const NO_SYMBOL = 0xffff;
/** The value of a step that ends the symbol that must not occur. */
export const INVALID_SYMBOL = END_OF_STRING;

/** Children of each inner node: an inner node if positive, the complement of a symbol if negative. */
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

const tree = buildTree();

/** The next node for each node and four bits. */
export const NEXT_NODE = new Uint16Array(CODE_LENGTHS.length * 16);
/** The symbol that ends with these four bits, or NO_SYMBOL. */
export const SYMBOL = new Uint16Array(CODE_LENGTHS.length * 16).fill(NO_SYMBOL);
/** Whether a string may end at a node: the bits after it are padding, which are the first bits of the longest code. */
export const MAY_END = new Uint8Array(CODE_LENGTHS.length);

for (let start = 0; start < CODE_LENGTHS.length - 1; start += 1) {
  for (let bits = 0; bits < 16; bits += 1) {
    let node = start;
    for (let bit = 3; bit >= 0; bit -= 1) {
      const child = tree[2 * node + ((bits >> bit) & 1)] ?? 0;
      if (child < 0) SYMBOL[start * 16 + bits] = ~child;
      node = Math.max(0, child);
    }
    NEXT_NODE[start * 16 + bits] = node;
  }
}

for (let padding = 0, node = 0; padding <= MAX_PADDING; padding += 1) {
  MAY_END[node] = 1;
  node = tree[2 * node + 1] ?? 0;
}
