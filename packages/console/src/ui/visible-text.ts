/** Characters that are not seen themselves, but turn the text after them around or make two texts look the same. */
const UNSEEN = /[\p{Bidi_Control}\u200B\u2060\uFEFF]/gu;

/** A text from outside with such characters as their codes, so that nobody is deceived by it. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
  });
}
