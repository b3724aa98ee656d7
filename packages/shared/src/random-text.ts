/**
 * Cuts pieces from a block of random text, using each part once, and draws a new block when the rest is too short. Drawing
 * random text in blocks costs a fraction of drawing each piece.
 */
export function piecesOf(makeText: () => string): (chars: number) => string {
  let text = '';
  let used = 0;
  return (chars) => {
    if (used + chars > text.length) {
      text = makeText();
      used = 0;
    }
    used += chars;
    return text.slice(used - chars, used);
  };
}
