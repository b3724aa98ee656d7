/**
 * The text with each character that the pattern finds as an escape (RFC 3986 section 2.1).
 *
 * @param text each character of it that is found is one byte
 * @param pattern global, of one character
 */
export function escapeBytes(text: string, pattern: RegExp): string {
  return text.replaceAll(pattern, (byte) => {
    return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}
