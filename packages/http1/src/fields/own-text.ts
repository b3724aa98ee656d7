/**
 * The same text in memory of its own. A part of a string keeps all of it alive: what is remembered of one
 * head must not keep that head, with the credentials in it.
 */
export function ownText(part: string): string {
  return Buffer.from(part, 'latin1').toString('latin1');
}
