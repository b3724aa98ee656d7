import { readFileSync } from 'node:fs';
import type { components } from '@gateway/client';
import { UsageError } from '../../program/exit-codes.ts';
import type { Terminal } from '../../terminal/terminal.ts';

type Question = components['schemas']['ExplainQuestion'];

const MAX_BYTES = 64 * 1024;

/** The path and the query of a target such as `/17?full=1`. */
export function targetOf(target: string): Pick<Question, 'path' | 'query'> {
  const at = target.indexOf('?');
  return at < 0 ? { path: target } : { path: target.slice(0, at), query: target.slice(at + 1) };
}

/** The method of a question that names none: gRPC calls are POST. */
export function defaultMethod(headers: Readonly<Record<string, readonly string[]>>): string {
  const types = Object.entries(headers).filter(([name]) => name.toLowerCase() === 'content-type');
  return types.some(([, values]) => GRPC_TYPE.test(values.join())) ? 'POST' : 'GET';
}

const GRPC_TYPE = /^application\/grpc(?:[+;]|$)/i;

/** The header fields of `-H`: `Name: value`, or `@FILE` and `@-` for lines of them. */
export async function headersOf(
  given: readonly string[],
  terminal: Terminal,
): Promise<Record<string, string[]>> {
  // Without a prototype, whose properties a header could name: `constructor`.
  const headers = Object.create(null) as Record<string, string[]>;
  for (const one of given) {
    const lines = one.startsWith('@') ? await readLines(one.slice(1), terminal) : [one];
    if (one.includes('gwt_')) {
      throw new UsageError('-H cannot have the secret of a token; use --token NAME, or -H @FILE');
    }
    for (const line of lines) {
      const field = /^([^:\s]+):[ \t]*(.*)$/.exec(line);
      if (!field) throw new UsageError("-H must be 'Name: value', @FILE, or @- for stdin");
      const [, name = '', value = ''] = field;
      headers[name] = [...(headers[name] ?? []), value];
    }
  }
  return headers;
}

async function readLines(file: string, terminal: Terminal): Promise<string[]> {
  const text = file === '-' ? await terminal.readInput(MAX_BYTES) : readFile(file);
  return text.split(/\r?\n/).filter((line) => line !== '');
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new UsageError(`-H @${file}: the file cannot be read`);
  }
}
