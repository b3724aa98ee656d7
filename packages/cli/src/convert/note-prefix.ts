import type { Conversion, RouteDraft } from './draft.ts';

/** The sources compare the characters of a prefix: `/a` is met by `/ab` too, and `/a/` is not met by `/a`. */
export function notePrefix(
  conversion: Conversion,
  route: RouteDraft,
  text: string,
  place: string,
): void {
  if (text === '/') return;
  if (text.endsWith('/')) {
    const note = 'a prefix that ends with a slash: here the path without it is met too';
    conversion.repeated('note', place, note);
  } else if (/[A-Za-z0-9]$/.test(text)) {
    const note =
      'a prefix without a slash at its end: here it ends at a segment, so /api is met by /api/x but not by /apix';
    conversion.repeated('note', place, note);
  } else {
    const difference = `the prefix ${text}: only this path and those below it, no other that begins so`;
    route.different(place, difference, 'match');
  }
}
