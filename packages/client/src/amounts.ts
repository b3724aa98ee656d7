/** The unit of a field of the API (`x-unit`) that people write with larger units too. */
export type AmountUnit = 'ms' | 'seconds' | 'bytes' | 'bytes per second';

/** The bounds of a field, in its unit. */
interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

type Sizes = readonly (readonly [name: string, size: number])[];

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;

/** From the largest to the smallest; a time is shown in the first that it is a whole number of. */
const TIMES: Sizes = [
  ['h', HOUR_MS],
  ['min', 60_000],
  ['s', SECOND_MS],
];

/** By the letters that people use, in lower case. */
const MS_OF: ReadonlyMap<string, number> = new Map(
  [
    { names: 'ms millisecond milliseconds', ms: 1 },
    { names: 's sec second seconds', ms: SECOND_MS },
    { names: 'm min minute minutes', ms: 60_000 },
    { names: 'h hour hours', ms: HOUR_MS },
    { names: 'd day days', ms: 24 * HOUR_MS },
  ].flatMap(({ names, ms }) => names.split(' ').map((name) => [name, ms] as const)),
);

const KILO = 1000;
const KIBI = 1024;
const SIZES: Sizes = [
  ['GiB', KIBI ** 3],
  ['MiB', KIBI ** 2],
  ['KiB', KIBI],
  ['GB', KILO ** 3],
  ['MB', KILO ** 2],
  ['KB', KILO],
];

/** `Ki` is short for `KiB`. A bare `K` is not known: for some it is 1000, for others 1024. */
const BYTES_OF: ReadonlyMap<string, number> = new Map([
  ...['b', 'byte', 'bytes'].map((name) => [name, 1] as const),
  ...SIZES.map(([name, size]) => [name.toLowerCase(), size] as const),
  ...SIZES.slice(0, 3).map(([name, size]) => [name.slice(0, 2).toLowerCase(), size] as const),
]);

const MAX_DECIMALS = 9;
const NUMBER = String.raw`(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.\d{1,${MAX_DECIMALS}})?`;
const PART = new RegExp(String.raw`(${NUMBER})\s*([a-z]*)\s*`, 'gy');

/** Whether amounts in this unit may be written with larger ones. */
export function isAmountUnit(unit: string | undefined): unit is AmountUnit {
  return unit === 'ms' || unit === 'seconds' || unit === 'bytes' || unit === 'bytes per second';
}

/**
 * What a text such as `500ms`, `1m 30s`, `10 MiB`, `64KB` or `10,000` means.
 * @returns a whole number in the unit, which is also that of a number without one; undefined: the text is no such amount
 */
export function parseAmount(text: string, unit: AmountUnit): number | undefined {
  const typed = text.trim().toLowerCase();
  switch (unit) {
    case 'ms':
      return sumOf(typed, MS_OF, 1, 1);
    case 'seconds':
      return sumOf(typed, MS_OF, SECOND_MS, SECOND_MS);
    case 'bytes':
      return sumOf(typed, BYTES_OF, 1, 1);
    case 'bytes per second':
      return sumOf(typed.replace(/\s*(?:\/ ?s|per second)$/, ''), BYTES_OF, 1, 1);
  }
}

/** The sum of parts such as `1m 30s`, as a number of `whole`. */
function sumOf(
  text: string,
  sizeOf: ReadonlyMap<string, number>,
  usual: number,
  whole: number,
): number | undefined {
  const parts = [...text.matchAll(PART)];
  if (text === '' || parts.map(([all]) => all).join('') !== text) return undefined;
  // Exact: a product of a binary fraction could miss the whole number that was typed.
  let sum = 0n;
  for (const [, digits = '', name = ''] of parts) {
    if (name === '' && parts.length > 1) return undefined;
    const size = name === '' ? usual : sizeOf.get(name);
    if (size === undefined) return undefined;
    const [units = '', decimals = ''] = digits.replaceAll(',', '').split('.');
    sum += BigInt(units + decimals.padEnd(MAX_DECIMALS, '0')) * BigInt(size);
  }
  const one = BigInt(whole) * 10n ** BigInt(MAX_DECIMALS);
  const amount = Number(sum / one);
  return sum % one === 0n && Number.isSafeInteger(amount) ? amount : undefined;
}

/** An amount in the unit that is shortest for it, exactly: `10 s`, `1.5 s`, `10 MiB`, `64 KB`, `1,023 bytes`. */
export function amountText(amount: number, unit: AmountUnit): string {
  switch (unit) {
    case 'ms':
      return timeText(amount);
    case 'seconds':
      return timeText(amount * SECOND_MS, 's');
    case 'bytes':
      return sizeText(amount);
    case 'bytes per second':
      return `${sizeText(amount)}/s`;
  }
}

function timeText(ms: number, least: 'ms' | 's' = 'ms'): string {
  if (ms < SECOND_MS) return `${numberText(ms)} ${least}`;
  const [name, size] = TIMES.find(([, one]) => ms % one === 0) ?? (['s', SECOND_MS] as const);
  return `${numberText(ms / size)} ${name}`;
}

function sizeText(bytes: number): string {
  const texts = SIZES.flatMap(([name, size]) =>
    bytes >= size && (bytes * 100) % size === 0 ? [`${numberText(bytes / size)} ${name}`] : [],
  );
  const plain = `${numberText(bytes)} ${bytes === 1 ? 'byte' : 'bytes'}`;
  // The one with the shortest number.
  return [...texts, plain].reduce((best, one) =>
    one.indexOf(' ') < best.indexOf(' ') ? one : best,
  );
}

/** An amount in the unit of the API: `10,000 ms`, `10,485,760 bytes`. */
export function apiAmountText(amount: number, unit: AmountUnit): string {
  return `${numberText(amount)} ${unit}`;
}

/** What the API says of a value that is no whole number within the bounds. */
const NO_AMOUNT = /^must be a whole number\b/;

/** What the API says of an amount, with its bounds in units that people use; anything else it says stays as it is. */
export function amountFault(message: string, unit: AmountUnit, bounds: Bounds): string {
  return NO_AMOUNT.test(message) ? amountRule(unit, bounds) : message;
}

/** What amounts in this unit are, in one word. */
export function amountKind(unit: AmountUnit): 'time' | 'size' | 'rate' {
  if (unit === 'bytes') return 'size';
  return unit === 'bytes per second' ? 'rate' : 'time';
}

/** The names of units that amounts in this unit may have, as people write them. */
export function unitNames(unit: AmountUnit): readonly string[] {
  if (amountKind(unit) === 'time') return [...MS_OF.keys()];
  return [...SIZES.map(([name]) => name), 'bytes'];
}

/** What an amount in this unit must be, in words that follow the name of the field. */
export function amountRule(unit: AmountUnit, { min, max }: Bounds = {}): string {
  const [kind, example] = RULES[unit];
  const range =
    min === undefined || max === undefined
      ? ''
      : ` from ${amountText(min, unit)} to ${amountText(max, unit)}`;
  return `must be ${kind}${range}, such as ${example}`;
}

const RULES = {
  ms: ['a time', '500ms or 1m'],
  seconds: ['a time in whole seconds', '30s or 1m'],
  bytes: ['a size', '64KB or 10 MiB'],
  'bytes per second': ['a rate', '500 bytes/s or 64 KiB/s'],
} as const satisfies Record<AmountUnit, readonly [kind: string, example: string]>;

function numberText(number: number): string {
  return number.toLocaleString('en', { maximumFractionDigits: 3 });
}
