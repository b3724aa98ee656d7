import type { Terminal } from '../src/terminal/terminal.ts';

/** A terminal that keeps what is written to it. */
export function fakeTerminal(): Terminal & { readonly written: string[] } {
  const written: string[] = [];
  return {
    written,
    env: {},
    nowMs: () => Date.UTC(2030, 0, 1),
    columns: 100,
    unicode: true,
    stdinIsTerminal: false,
    out: (text) => void written.push(text),
    error: (text) => void written.push(text),
    colour: (_style, text) => text,
    readInput: () => Promise.resolve(''),
    readSecret: () => Promise.resolve(''),
    pause: () => Promise.resolve(),
    interrupted: () => new AbortController().signal,
  };
}
