/** From here on a caller is near its quota, as a part of the window. */
const NEAR = 0.8;

/** How a used part of a quota is meant: `bad` is used up. */
export function quotaTone(used: number): 'free' | 'warn' | 'bad' {
  if (used >= 1) return 'bad';
  return used >= NEAR ? 'warn' : 'free';
}

/** A part as percents: rounded down, so that 100 % means that nothing is left. */
export function usedText(used: number): string {
  const percent = Math.floor(used * 100);
  return percent === 0 && used > 0 ? '< 1 %' : `${percent} %`;
}
