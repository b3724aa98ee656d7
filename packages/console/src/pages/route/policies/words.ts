import { amountText } from '@gateway/client/amounts';

const MINUTE_S = 60;

/** A duration: `250 ms`, `2 s`, `1.5 s`, `5 min`. */
export function durationText(ms: number): string {
  return amountText(ms, 'ms');
}

/** A window of time: `a minute`, `an hour`, `a day`, `90 s`. */
export function windowText(seconds: number): string {
  if (seconds === 1) return 'a second';
  if (seconds === MINUTE_S) return 'a minute';
  if (seconds === 60 * MINUTE_S) return 'an hour';
  if (seconds === 24 * 60 * MINUTE_S) return 'a day';
  return amountText(seconds, 'seconds');
}

/** A size: `10 MiB`, `64 KiB`, `1,023 bytes`. */
export function sizeText(bytes: number): string {
  return amountText(bytes, 'bytes');
}

/** `a, b and c`. */
export function listWords(items: readonly string[], last: 'and' | 'or' = 'and'): string {
  if (items.length < 2) return items.join('');
  return `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1) ?? ''}`;
}
