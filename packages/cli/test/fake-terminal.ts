import type { Terminal } from '../src/terminal/terminal.ts';

/** A terminal that keeps what is written to it, with `fields` replaced. */
export function fakeTerminal(
  fields: Partial<Terminal> = {},
): Terminal & { readonly written: string[] } {
  const written: string[] = [];
  return {
    written,
    env: {},
    nowMs: () => Date.UTC(2030, 0, 1),
    columns: 100,
    rows: 24,
    stdoutIsTerminal: false,
    stderrColumns: undefined,
    unicode: true,
    stdinIsTerminal: false,
    out: (text) => void written.push(text),
    error: (text) => void written.push(text),
    colour: (_style, text) => text,
    readInput: () => Promise.resolve(''),
    readSecret: () => Promise.resolve(''),
    pause: () => Promise.resolve(),
    interrupted: () => new AbortController().signal,
    confirm: () => Promise.resolve(false),
    browse: () => Promise.resolve(false),
    ...fields,
  };
}
