/**
 * Gives pieces of a text, each of it once, and takes a new text where the rest of the last one is too
 * short. To draw random text by the block costs a fraction of drawing it by the piece.
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
