/** How a number compares with the one before. */
export interface Change {
  /** Such as `+12 %`, `+0.4 points`, `×20`, `none before`. */
  readonly text: string;
  readonly isUp: boolean;
  /** Whether there was none before, so that nothing is known of more or less. */
  readonly isFirst?: true;
}

/** Smaller changes mean nothing. */
const LEAST = 0.005;
const LEAST_POINTS = 0.005;
const MANY_TIMES = 10;

/** How a number compares with the one before; undefined if one of them is not known, or nothing changed. */
export function changeOf(
  now: number | null,
  before: number | null | undefined,
): Change | undefined {
  if (now === null || before === null || before === undefined) return undefined;
  if (before === 0)
    return now === 0 ? undefined : { text: 'none before', isUp: true, isFirst: true };
  const change = now / before - 1;
  if (Math.abs(change) < LEAST) return undefined;
  const isUp = change > 0;
  if (change >= MANY_TIMES) {
    return { text: `×${Math.round(now / before).toLocaleString('en')}`, isUp };
  }
  return { text: signed(change * 100, 1, '%'), isUp };
}

/** How a share compares with the one before, in percentage points: `+0.4 points`. A relative change of a share reads as such points. */
export function shareChangeOf(
  now: number | null,
  before: number | null | undefined,
): Change | undefined {
  if (now === null || before === null || before === undefined) return undefined;
  const points = (now - before) * 100;
  if (Math.abs(points) < LEAST_POINTS) return undefined;
  return { text: signed(points, Math.abs(points) < 0.95 ? 2 : 1, 'points'), isUp: points > 0 };
}

/** @param digits after the point, if it is below 9.95 */
function signed(amount: number, digits: number, unit: string): string {
  const size = Math.abs(amount);
  const text = size.toLocaleString('en', { maximumFractionDigits: size < 9.95 ? digits : 0 });
  return `${amount > 0 ? '+' : '−'}${text} ${unit}`;
}
