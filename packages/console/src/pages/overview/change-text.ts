/** How a number compares with the one before. */
export interface Change {
  /** Such as `+12 %`, `×3.4`, `none before`. */
  readonly text: string;
  readonly isUp: boolean;
  /** Whether there was none before, so that nothing is known of more or less. */
  readonly isFirst?: true;
}

/** Smaller changes mean nothing. */
const LEAST = 0.005;
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
  const percent = Math.abs(change) * 100;
  const digits = percent < 9.95 ? 1 : 0;
  const text = percent.toLocaleString('en', { maximumFractionDigits: digits });
  return { text: `${isUp ? '+' : '−'}${text} %`, isUp };
}
