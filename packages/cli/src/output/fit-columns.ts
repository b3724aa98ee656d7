/** Between two columns. */
const GAP = 2;
/** A cell that is cut shows at least so much. */
const LEAST = 8;

interface Fitting {
  readonly shrinks?: true;
  readonly leftOut?: number;
}

/** Which columns are shown, by their places, and how wide each one of them all is. */
export interface Fitted {
  readonly kept: readonly number[];
  readonly widths: readonly number[];
}

/**
 * Makes columns fit lines of `room` characters: first those are narrowed that may be, the widest first, then those are left
 * out that may be. What is left may still be longer.
 * @param room undefined: any length will do
 */
export function fitColumns(
  columns: readonly Fitting[],
  wanted: readonly number[],
  room: number | undefined,
): Fitted {
  let kept = columns.map((_column, at) => at);
  if (room === undefined) return { kept, widths: wanted };
  const droppable = kept
    .filter((at) => columns[at]?.leftOut !== undefined)
    .sort((a, b) => (columns[a]?.leftOut ?? 0) - (columns[b]?.leftOut ?? 0));
  for (;;) {
    const widths = shrunk(columns, wanted, kept, room);
    const [next] = droppable;
    if (lineLength(widths, kept) <= room || next === undefined) return { kept, widths };
    droppable.shift();
    kept = kept.filter((at) => at !== next);
  }
}

function shrunk(
  columns: readonly Fitting[],
  wanted: readonly number[],
  kept: readonly number[],
  room: number,
): number[] {
  const widths = [...wanted];
  const flexible = kept.filter((at) => columns[at]?.shrinks === true);
  let excess = lineLength(widths, kept) - room;
  while (excess > 0) {
    const widest = flexible.reduce<number | undefined>(
      (best, at) =>
        (widths[at] ?? 0) > (best === undefined ? LEAST : (widths[best] ?? 0)) ? at : best,
      undefined,
    );
    if (widest === undefined) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

function lineLength(widths: readonly number[], kept: readonly number[]): number {
  return kept.reduce((sum, at) => sum + (widths[at] ?? 0), GAP * Math.max(0, kept.length - 1));
}
