/** Between two columns. */
const GAP = 2;
/** A cell that is cut shows at least so much, however narrow the terminal. */
const LEAST = 8;

interface Fitting {
  readonly shrinks?: number;
  readonly leftOut?: number;
}

/** Which columns are shown, by their places, and how wide each one of them all is. */
export interface Fitted {
  readonly kept: readonly number[];
  readonly widths: readonly number[];
}

/**
 * Makes columns fit lines of `room` characters: first those are narrowed that may be, the widest first, then those are left
 * out that may be, then the narrowed ones become narrower still. What is left may be longer.
 * @param room undefined: any length will do
 */
export function fitColumns(
  columns: readonly Fitting[],
  wanted: readonly number[],
  room: number | undefined,
): Fitted {
  let kept = columns.map((_column, at) => at);
  if (room === undefined) return { kept, widths: wanted };
  const leastOf = (at: number) => columns[at]?.shrinks;
  const droppable = kept
    .filter((at) => columns[at]?.leftOut !== undefined)
    .sort((a, b) => (columns[a]?.leftOut ?? 0) - (columns[b]?.leftOut ?? 0));
  for (;;) {
    const widths = shrunk({ leastOf, wanted, kept, room });
    const [next] = droppable;
    if (lineLength(widths, kept) <= room) return { kept, widths };
    if (next === undefined) {
      const least = (at: number) => (leastOf(at) === undefined ? undefined : LEAST);
      return { kept, widths: shrunk({ leastOf: least, wanted, kept, room }) };
    }
    droppable.shift();
    kept = kept.filter((at) => at !== next);
  }
}

interface Shrinking {
  /** The least width of a column; undefined: it keeps its width. */
  readonly leastOf: (at: number) => number | undefined;
  readonly wanted: readonly number[];
  readonly kept: readonly number[];
  readonly room: number;
}

function shrunk({ leastOf, wanted, kept, room }: Shrinking): number[] {
  const widths = [...wanted];
  const widthOf = (at: number) => widths[at] ?? 0;
  for (let excess = lineLength(widths, kept) - room; excess > 0; excess -= 1) {
    const flexible = kept.filter((at) => widthOf(at) > (leastOf(at) ?? Number.POSITIVE_INFINITY));
    const [first, ...others] = flexible;
    if (first === undefined) break;
    const widest = others.reduce((best, at) => (widthOf(at) > widthOf(best) ? at : best), first);
    widths[widest] = widthOf(widest) - 1;
  }
  return widths;
}

function lineLength(widths: readonly number[], kept: readonly number[]): number {
  return kept.reduce((sum, at) => sum + (widths[at] ?? 0), GAP * Math.max(0, kept.length - 1));
}
