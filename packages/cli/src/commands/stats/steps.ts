/** The steps of the API, the shortest first. */
export const STEPS = ['1m', '15m', '1h', '6h', '1d'] as const;
export type Step = (typeof STEPS)[number];

const MINUTE_MS = 60_000;
const LENGTH_MS: Readonly<Record<Step, number>> = {
  '1m': MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '6h': 360 * MINUTE_MS,
  '1d': 1440 * MINUTE_MS,
};
/** As many rows as a terminal shows at once. */
const MAX_ROWS = 32;

/** The shortest step that divides a period into few rows. */
export function stepFor(periodMs: number): Step {
  return STEPS.find((step) => periodMs / LENGTH_MS[step] <= MAX_ROWS) ?? '1d';
}

/** The begins of the steps of a period, which are aligned to UTC. */
export function stepBegins(fromMs: number, toMs: number, step: Step): number[] {
  const lengthMs = LENGTH_MS[step];
  const begins: number[] = [];
  for (let at = fromMs - (fromMs % lengthMs); at < toMs; at += lengthMs) begins.push(at);
  return begins;
}
