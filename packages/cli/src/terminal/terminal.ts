import { bytesText } from '@gateway/client/measures';
import { isatty } from 'node:tty';
import { UsageError } from '../program/exit-codes.ts';
import { styled, usesColour, type Style } from '../output/colours.ts';

/** What a command sees of its process. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowMs: () => number;
  /** Characters in a line. */
  readonly columns: number;
  /** Lines on the screen. */
  readonly rows: number;
  /** Whether stdout is a terminal, so that a person reads it now. */
  readonly stdoutIsTerminal: boolean;
  /** Characters in a line of stderr; undefined if it is no terminal. */
  readonly stderrColumns: number | undefined;
  /** Whether the terminal shows characters beyond ASCII. */
  readonly unicode: boolean;
  readonly stdinIsTerminal: boolean;
  out(text: string): void;
  error(text: string): void;
  /** The text in this colour; as it is if stdout is no terminal, `NO_COLOR` is set, or `--color` says so. */
  colour(style: Style, text: string): string;
  /** All of stdin. @throws UsageError if it has more bytes */
  readInput(maxBytes: number): Promise<string>;
  /** Asks for a secret, which is not shown while it is typed. */
  readSecret(question: string): Promise<string>;
  /** Resolves after `delayMs`. Rejects when the signal aborts. */
  pause(delayMs: number, signal: AbortSignal): Promise<void>;
  /** Aborts at ^C, which then no longer ends the process. */
  interrupted(): AbortSignal;
  /** Asks a question with the answers yes and no. @throws InterruptedError after ^C */
  confirm(question: string, interrupted?: AbortSignal): Promise<boolean>;
  /** Opens a URL in a browser. Resolves with whether there is one. */
  browse(url: string): Promise<boolean>;
}

const DEFAULT_COLUMNS = 100;
const DEFAULT_ROWS = 24;

/** The terminal of this process. */
export function systemTerminal(): Terminal {
  const { stdout, stderr, env } = process;
  const coloured = usesColour(env, stdout.isTTY, 'auto');
  const locale = env['LC_ALL'] ?? env['LC_CTYPE'] ?? env['LANG'] ?? '';
  return {
    env,
    nowMs: Date.now,
    // A terminal may say that it has 0 columns, and changes its size.
    get columns() {
      return (stdout.isTTY && stdout.columns) || DEFAULT_COLUMNS;
    },
    get rows() {
      return (stdout.isTTY && stdout.rows) || DEFAULT_ROWS;
    },
    stdoutIsTerminal: stdout.isTTY,
    stderrColumns: stderr.isTTY ? stderr.columns || DEFAULT_COLUMNS : undefined,
    unicode: /utf-?8/i.test(locale),
    stdinIsTerminal: isatty(0),
    out: (text) => void stdout.write(text),
    error: (text) => void stderr.write(text),
    colour: (style, text) => (coloured ? styled(style, text) : text),
    readInput: (maxBytes) => readAll(process.stdin, maxBytes),
    // What few commands need is loaded by them.
    readSecret: async (question) => {
      const { readSecret } = await import('./read-secret.ts');
      return readSecret(question, process.stdin, stderr);
    },
    pause: async (delayMs, signal) => {
      const { setTimeout: sleep } = await import('node:timers/promises');
      await sleep(delayMs, undefined, { signal });
    },
    interrupted() {
      const controller = new AbortController();
      process.once('SIGINT', () => controller.abort());
      return controller.signal;
    },
    confirm: async (question, interrupted) => {
      const { confirm } = await import('./confirm.ts');
      return confirm(question, { stdin: process.stdin, stderr }, interrupted);
    },
    browse: async (url) => {
      const { browse } = await import('./browse.ts');
      return browse(url, env);
    },
  };
}

async function readAll(input: AsyncIterable<unknown>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    const buffer = Buffer.from(chunk as Uint8Array);
    bytes += buffer.length;
    if (bytes > maxBytes) throw new UsageError(`stdin has more than ${bytesText(maxBytes)}`);
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
