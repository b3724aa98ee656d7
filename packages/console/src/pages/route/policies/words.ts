import { amountText } from '@gateway/client/amounts';
import { countText } from '../../../ui/count-text.ts';

const SECOND_MS = 1000;
const MINUTE_S = 60;
const SIZES = [
  [1024 ** 3, 'GiB'],
  [1024 ** 2, 'MiB'],
  [1024, 'KiB'],
] as const;

/** A duration: `250 ms`, `2 s`, `1.5 s`, `1 h`. */
export function durationText(ms: number): string {
  if (ms >= MINUTE_S * SECOND_MS) return amountText(ms, 'ms');
  return ms < SECOND_MS ? `${ms} ms` : `${ms / SECOND_MS} s`;
}

/** A window of time: `a minute`, `an hour`, `a day`, `90 seconds`. */
export function windowText(seconds: number): string {
  if (seconds === 1) return 'a second';
  if (seconds === MINUTE_S) return 'a minute';
  if (seconds === 60 * MINUTE_S) return 'an hour';
  if (seconds === 24 * 60 * MINUTE_S) return 'a day';
  return `${seconds.toLocaleString('en')} seconds`;
}

/** A size: `10 MiB`, `64 KiB`, `1,000 bytes`. */
export function sizeText(bytes: number): string {
  const whole = SIZES.find(([size]) => bytes >= size && bytes % size === 0);
  return whole === undefined ? countText(bytes, 'byte') : `${bytes / whole[0]} ${whole[1]}`;
}

/** `a, b and c`. */
export function listWords(items: readonly string[], last: 'and' | 'or' = 'and'): string {
  if (items.length < 2) return items.join('');
  return `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1) ?? ''}`;
}
