const NUMBER_AND_UNIT = /(\d) (?=(?:ms|s|min|h|d|bytes?|[KMGT]i?B)\b|%)/g;

/** A text in whose lines no number stands apart from its unit. */
export function joinedUnits(text: string): string {
  return text.replaceAll(NUMBER_AND_UNIT, '$1\u00A0');
}
