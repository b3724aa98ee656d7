const TEXTS = Array.from({ length: 1000 }, (_none, index) => String(index));
const PADDED = TEXTS.map((text) => text.padStart(3, '0'));
const FRACTIONS = PADDED.map((digits) => `.${digits}`);

/**
 * The same text as `String` gives, for whole numbers that are different in each request.
 *
 * V8 keeps what `String` and template strings make of a number in a cache, so that each of these texts lived until two
 * collections had passed, and got into the old generation: four fifths of all that a plain request left there.
 */
export function decimalText(value: number): string {
  if (value < 1000 || !Number.isSafeInteger(value)) return TEXTS[value] ?? String(value);
  const thousands = Math.floor(value / 1000);
  return decimalText(thousands) + threeDigits(value - thousands * 1000);
}

/** A whole number below 1000 with leading zeros. */
export function threeDigits(value: number): string {
  return PADDED[value] ?? '';
}

/** A whole number of thousandths, with three decimals: 1024 is `1.024`. */
export function thousandthsText(value: number): string {
  const whole = Math.floor(value / 1000);
  return decimalText(whole) + (FRACTIONS[value - whole * 1000] ?? '');
}
