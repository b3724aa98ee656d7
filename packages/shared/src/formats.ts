import { z } from 'zod';

/**
 * Returns the numbers of a format that a reader accepts: the newest one that it knows and the one before it,
 * so that two consecutive releases understand each other. docs/contribute/formats.md has the promise and the
 * table of all formats.
 */
export function readableFormats(newest: number): readonly number[] {
  return newest > 1 ? [newest - 1, newest] : [newest];
}

/** The field `format` of a message or a stored value. */
export function formatField(newest: number) {
  const readable = readableFormats(newest);
  return z.literal([...readable], {
    error: ({ input }) =>
      typeof input === 'number'
        ? `must be ${readable.join(' or ')}, not ${input}`
        : `must be ${readable.join(' or ')}`,
  });
}

/** The first line of a file: its kind, and the number of its format. */
export function formatLine(kind: string, format: number): string {
  return `${kind} ${format}\n`;
}

export interface FormatLine {
  readonly format: number;
  readonly readable: boolean;
  /** Where the content begins. */
  readonly end: number;
}

/** Nine digits and the line break. */
const NUMBER = /^(\d{1,9})\n/;
const MAX_NUMBER_CHARS = 10;

/** Reads the first line of a file; undefined if it is not a format line of this kind. */
export function readFormatLine(file: Buffer, kind: string, newest: number): FormatLine | undefined {
  const head = file.toString('latin1', 0, kind.length + 1 + MAX_NUMBER_CHARS);
  if (!head.startsWith(`${kind} `)) return undefined;
  const [, digits] = NUMBER.exec(head.slice(kind.length + 1)) ?? [];
  if (digits === undefined) return undefined;
  const format = Number(digits);
  return {
    format,
    readable: readableFormats(newest).includes(format),
    end: kind.length + 1 + digits.length + 1,
  };
}

/**
 * Reads the first line of a file whose reader accepts nothing else there.
 *
 * @returns where the content begins
 * @throws Error if the line is missing, or names a format that this version does not read
 */
export function requireFormatLine(file: Buffer, kind: string, newest: number): number {
  const line = readFormatLine(file, kind, newest);
  if (line === undefined) throw new Error(`not a ${kind} file, or truncated`);
  if (!line.readable) {
    const readable = readableFormats(newest).join(' and ');
    throw new Error(`unknown format ${line.format}; this version reads format ${readable}`);
  }
  return line.end;
}
