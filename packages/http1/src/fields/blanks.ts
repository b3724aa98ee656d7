const SPACE = 0x20;
const TAB = 0x09;

/**
 * A part of a text without the blanks around it (RFC 9112 section 5.1). In a loop, as a pattern takes
 * squared time where there are many of them.
 */
export function withoutBlanks(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}
