type Separator = 'comma' | 'line';

/**
 * What was typed, as a number if it is one, also with commas between groups of three digits. Anything else stays a text,
 * which the API refuses with its own words.
 */
export function numberOrText(text: string): number | string {
  const typed = text.trim();
  const isGrouped = /^-?\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,15})?$/.test(typed);
  const trimmed = isGrouped ? typed.replaceAll(',', '') : typed;
  if (!/^-?\d{1,15}(?:\.\d{1,15})?$/.test(trimmed)) return text;
  const number = Number(trimmed);
  // A zero at the end, which the reader is about to continue, would be lost.
  return String(number) === trimmed ? number : text;
}

/** A number as the console writes numbers: `60,000`, `0.25`. */
export function groupedNumber(number: number): string {
  return number.toLocaleString('en', { maximumFractionDigits: 15 });
}

/** The items of a typed list. Empty ones are left out. */
export function listOf(text: string, separator: Separator, numbers: boolean): (string | number)[] {
  const items = text
    .split(separator === 'comma' ? /[,\s]+/ : '\n')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  return numbers ? items.map(numberOrText) : items;
}

/** A list as it is typed. */
export function listText(value: unknown, separator: Separator): string {
  const items = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value];
  return items.map(String).join(separator === 'comma' ? ', ' : '\n');
}
