const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const SPACE = 0x20;

/** No body that is accepted has objects as deep, so deeper ones need no set of names. */
const MAX_DEPTH = 64;

/**
 * Finds an object with two members of one name. The parser keeps the last of them silently, and other readers of the same
 * body keep the first: a `dry_run` that a reviewer sees could differ from the one that counts.
 *
 * @returns the offset in bytes of the second name; undefined if there is none, or if the body is not valid JSON
 */
export function repeatedNameAt(json: Buffer): number | undefined {
  const names: Set<string>[] = [];
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === OPEN) {
      depth += 1;
      if (depth <= MAX_DEPTH) names[depth] = new Set();
    } else if (byte === CLOSE) depth -= 1;
    else if (byte === QUOTE) {
      const end = endOfString(json, at);
      const seen = names[depth];
      if (seen !== undefined && isName(json, end)) {
        const name = textOf(json.toString('utf8', at, end));
        if (name === undefined) return undefined;
        if (seen.has(name)) return at;
        seen.add(name);
      }
      at = end - 1;
    }
  }
  return undefined;
}

/** The offset after the closing quote of the string that begins at `start`. */
function endOfString(json: Buffer, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

function isName(json: Buffer, end: number): boolean {
  let at = end;
  while ((json[at] ?? COLON) <= SPACE) at += 1;
  return json[at] === COLON;
}

/** Two spellings with different escapes are one name. */
function textOf(quoted: string): string | undefined {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}
