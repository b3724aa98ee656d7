// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The text with its control characters escaped: a value from elsewhere must not steer the terminal. */
export function printable(text: string): string {
  return text.replaceAll(CONTROL, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A value of data as a person reads it. Texts stand as they are, so that a script need not remove quotes. */
export function valueText(value: unknown): string {
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}
