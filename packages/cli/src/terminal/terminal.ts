import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { UsageError } from '../program/exit-codes.ts';
import { confirm } from './confirm.ts';
import { readSecret } from './read-secret.ts';

/** What a command sees of its process. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowMs: () => number;
  /** Characters in a line. */
  readonly columns: number;
  /** Characters in a line of stderr; undefined if it is no terminal. */
  readonly stderrColumns: number | undefined;
  /** Whether the terminal shows characters beyond ASCII. */
  readonly unicode: boolean;
  readonly stdinIsTerminal: boolean;
  out(text: string): void;
  error(text: string): void;
  /** The text in this colour; as it is if stdout is no terminal or `NO_COLOR` is set. */
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
}

type Style = 'red' | 'green' | 'yellow' | 'bold' | 'dim';

const DEFAULT_COLUMNS = 100;
const MIB = 1024 * 1024;

/** The terminal of this process. */
export function systemTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const locale = env['LC_ALL'] ?? env['LC_CTYPE'] ?? env['LANG'] ?? '';
  return {
    env,
    nowMs: Date.now,
    // A terminal may say that it has 0 columns.
    columns: (stdout.isTTY && stdout.columns) || DEFAULT_COLUMNS,
    stderrColumns: stderr.isTTY ? stderr.columns || DEFAULT_COLUMNS : undefined,
    unicode: /utf-?8/i.test(locale),
    stdinIsTerminal: stdin.isTTY,
    out: (text) => void stdout.write(text),
    error: (text) => void stderr.write(text),
    colour: (style, text) => styleText(style, text, { stream: stdout }),
    readInput: (maxBytes) => readAll(stdin, maxBytes),
    readSecret: (question) => readSecret(question, stdin, stderr),
    pause: (delayMs, signal) => sleep(delayMs, undefined, { signal }),
    interrupted() {
      const controller = new AbortController();
      process.once('SIGINT', () => controller.abort());
      return controller.signal;
    },
    confirm: (question, interrupted) => confirm(question, { stdin, stderr }, interrupted),
  };
}

async function readAll(input: AsyncIterable<unknown>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    const buffer = Buffer.from(chunk as Uint8Array);
    bytes += buffer.length;
    if (bytes > maxBytes) throw new UsageError(`stdin has more than ${sizeText(maxBytes)}`);
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function sizeText(bytes: number): string {
  return bytes >= MIB ? `${Math.floor(bytes / MIB)} MiB` : `${bytes} bytes`;
}
