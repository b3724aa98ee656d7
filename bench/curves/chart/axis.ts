/** How an axis is drawn. */
export interface AxisKind {
  /** With its unit, such as `CPU per request, µs`. */
  readonly label: string;
  readonly scale: 'linear' | 'log';
}

/** An axis with its range. */
export interface Axis {
  /** Where a value lies: 0 at the start of the axis, 1 at its end. */
  at(value: number): number;
  /** Values that get a grid line and a label. */
  readonly ticks: readonly number[];
}

const LINEAR_TICKS = 5;

/**
 * Chooses the range of an axis for these values. A linear axis begins at 0, so that a flat curve looks flat; a
 * logarithmic one has whole powers of ten at both ends.
 *
 * @throws if a logarithmic axis is given a value that is not positive
 */
export function fitAxis({ scale }: AxisKind, values: readonly number[]): Axis {
  const most = Math.max(...values);
  return scale === 'log' ? logAxis(Math.min(...values), most) : linearAxis(most);
}

function linearAxis(most: number): Axis {
  const step = niceStep((most > 0 ? most : 1) / LINEAR_TICKS);
  const count = Math.ceil((most > 0 ? most : 1) / step);
  const ticks = Array.from({ length: count + 1 }, (_, index) =>
    Number((index * step).toPrecision(9)),
  );
  return { at: (value) => value / (count * step), ticks };
}

function logAxis(least: number, most: number): Axis {
  if (!(least > 0)) throw new Error(`a logarithmic axis cannot show ${least}`);
  const from = Math.floor(Math.log10(least));
  const to = Math.max(from + 1, Math.ceil(Math.log10(most)));
  return {
    at: (value) => (Math.log10(value) - from) / (to - from),
    ticks: Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index)),
  };
}

/** The least of 1, 2, 5 or 10 times a power of ten that is not below the step. */
function niceStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  return power * ([1, 2, 5].find((factor) => factor * power >= step) ?? 10);
}

/** A number with a space between thousands, as in the tables. */
export function formatNumber(value: number): string {
  const digits = Number(value.toPrecision(6));
  const [whole = '', fraction] = String(digits).split('.');
  const spaced = Math.abs(digits) < 10_000 ? whole : whole.replaceAll(/\B(?=(\d{3})+$)/g, ' ');
  return fraction === undefined ? spaced : `${spaced}.${fraction}`;
}
