/**
 * How far a server has read a path, as an automaton that looks for `..`. Bytes above ASCII have several meanings, so the
 * automaton is in a set of states at once: each state is one bit.
 */
const STATE = {
  /** At the start, after empty segments only. */
  begin: 1,
  /** At the start, after empty segments and at least one of one dot. */
  beginAfterDot: 1 << 1,
  /** After a separator. */
  start: 1 << 2,
  /** One dot, in such a segment. */
  beginDot: 1 << 3,
  dot: 1 << 4,
  dotSpace: 1 << 5,
  dots: 1 << 6,
  /** Two dots or more, and a space, which Windows removes. */
  dotsSpace: 1 << 7,
  manyDots: 1 << 8,
  /** In a name that is not `..`, whatever follows. */
  name: 1 << 9,
} as const;

const STATES = 10;
const SETS = 1 << STATES;
/** All states of a set; above it are the refusals. */
export const ALL_STATES = SETS - 1;

/** Why a path is refused, beside the states. */
export const FOUND = { parent: SETS, parameter: SETS << 1, host: SETS << 2 } as const;

/** What a server may take a byte for. */
export const MEANS = {
  dot: 0,
  separator: SETS,
  /** `;` begins a parameter. */
  parameter: SETS * 2,
  /** A query or a fragment after decoding, or the end of a text in C. */
  end: SETS * 3,
  space: SETS * 4,
  other: SETS * 5,
  /** Any of these, or nothing. */
  any: SETS * 6,
} as const;

/** The set of states, and the refusals, that follow each set for each meaning. */
const NEXT = new Uint16Array(SETS * 7);

const { begin, beginAfterDot, start, beginDot, dot, dotSpace, dots, dotsSpace, manyDots, name } =
  STATE;

/** What follows each state: for a dot, a separator, a parameter, an end and a space. All others begin a name. */
const FOLLOWING: ReadonlyMap<number, readonly [number, number, number, number, number]> = new Map([
  [begin, [beginDot, begin, name, name, name]],
  // `/.//host` becomes `//host`, which an upstream could read as a host (RFC 3986 section 4.2).
  [beginAfterDot, [beginDot, FOUND.host, FOUND.host, name, name]],
  [start, [dot, start, name, name, name]],
  [beginDot, [dots, beginAfterDot, FOUND.parameter, name, dotSpace]],
  [dot, [dots, start, FOUND.parameter, name, dotSpace]],
  [dotSpace, [dotsSpace, start, name, name, dotSpace]],
  [dots, [manyDots, FOUND.parent, FOUND.parameter, FOUND.parent, dotsSpace]],
  [dotsSpace, [dotsSpace, FOUND.parent, FOUND.parent, FOUND.parent, dotsSpace]],
  [manyDots, [manyDots, start, name, name, dotsSpace]],
  [name, [name, start, name, name, name]],
]);

for (let set = 0; set < SETS; set += 1) {
  for (const [state, following] of FOLLOWING) {
    if ((set & state) === 0) continue;
    for (const [meaning, next] of [...following, name].entries()) {
      NEXT[meaning * SETS + set] = (NEXT[meaning * SETS + set] ?? 0) | next;
      NEXT[MEANS.any + set] = (NEXT[MEANS.any + set] ?? 0) | next | state;
    }
  }
}

/** The states before the first byte. */
export const FIRST_STATE = STATE.begin;

/** The states, and what was found, after a byte with a meaning of `MEANS`. */
export function following(states: number, meaning: number): number {
  return NEXT[meaning + states] ?? 0;
}

/** The refusal of a path that ends in these states. */
export function foundAtEnd(states: number): number {
  return (states & (dots | dotsSpace)) === 0 ? 0 : FOUND.parent;
}
