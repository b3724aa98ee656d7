const BEFORE_CHARS = 40;
const EXCERPT_CHARS = 160;

/** A piece of text, and whether it is what was searched for. */
export interface ExcerptPiece {
  readonly text: string;
  readonly matches: boolean;
}

/** The text around the first of the terms, which are in lower case, in pieces. */
export function excerptOf(text: string, terms: readonly string[]): readonly ExcerptPiece[] {
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const from = first <= BEFORE_CHARS ? 0 : text.indexOf(' ', first - BEFORE_CHARS) + 1;
  const start = from > first ? first : from;
  const shown = text.slice(start, start + EXCERPT_CHARS);
  const pieces: ExcerptPiece[] = start === 0 ? [] : [{ text: '… ', matches: false }];
  let at = 0;
  while (at < shown.length) {
    const { place, length } = nextMatch(shown.toLowerCase(), terms, at);
    if (place > at) pieces.push({ text: shown.slice(at, place), matches: false });
    if (length > 0) pieces.push({ text: shown.slice(place, place + length), matches: true });
    at = place + length;
  }
  return start + EXCERPT_CHARS < text.length ? [...pieces, { text: ' …', matches: false }] : pieces;
}

function nextMatch(shown: string, terms: readonly string[], from: number) {
  let best = { place: shown.length, length: 0 };
  for (const term of terms) {
    const place = shown.indexOf(term, from);
    if (place >= 0 && (place < best.place || (place === best.place && term.length > best.length))) {
      best = { place, length: term.length };
    }
  }
  return best;
}
