type Separator = 'comma' | 'line';

/** What was typed, as a number if it is one. Anything else stays a text, which the API refuses with its own words. */
export function numberOrText(text: string): number | string {
  const trimmed = text.trim();
  if (!/^-?\d{1,15}(?:\.\d{1,15})?$/.test(trimmed)) return text;
  const number = Number(trimmed);
  // A zero at the end, which the reader is about to continue, would be lost.
  return String(number) === trimmed ? number : text;
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
