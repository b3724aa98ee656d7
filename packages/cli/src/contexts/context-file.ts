import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { UsageError } from '../program/exit-codes.ts';

/** A gateway, a token for it, and the environment that commands use. */
export interface Context {
  readonly url: string;
  readonly token: string;
  readonly environment?: string;
}

export interface ContextFile {
  readonly current?: string;
  readonly contexts: Readonly<Record<string, Context>>;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Where the contexts are kept. */
export function contextFilePath(env: Env): string {
  const configured = env['XDG_CONFIG_HOME'] ?? '';
  // The specification of XDG has relative paths ignored.
  const home = path.isAbsolute(configured) ? configured : path.join(homedir(), '.config');
  return path.join(home, 'gwctl', 'contexts.json');
}

/** Reads the contexts; none if there is no file. Refuses a file that others can read: it holds tokens. */
export function readContexts(env: Env): ContextFile {
  const file = contextFilePath(env);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) return { contexts: {} };
  if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0) {
    throw new UsageError(`${file} can be read by other users; run chmod 600 ${file}`);
  }
  try {
    return contextFileOf(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // The message of the parser may quote a token.
    throw new UsageError(`${file} is not a file of contexts; delete it and run gwctl login`);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Checks the file by hand: a library of schemas would double the time that gwctl takes to start. */
function contextFileOf(value: unknown): ContextFile {
  const { current, contexts } = fieldsOf(value, ['current', 'contexts']);
  return {
    ...optional('current', current),
    contexts: Object.fromEntries(
      Object.entries(fieldsOf(contexts)).map(([name, one]) => [name, contextOf(one)]),
    ),
  };
}

function contextOf(value: unknown): Context {
  const { url, token, environment } = fieldsOf(value, ['url', 'token', 'environment']);
  return { url: textOf(url), token: textOf(token), ...optional('environment', environment) };
}

function fieldsOf(value: unknown, names?: readonly string[]): Fields {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject) throw new TypeError('no object');
  if (names && Object.keys(value).some((name) => !names.includes(name))) {
    throw new TypeError('an unknown field');
  }
  return value as Fields;
}

function optional<Name extends string>(name: Name, value: unknown): { [key in Name]?: string } {
  return value === undefined ? {} : ({ [name]: textOf(value) } as { [key in Name]: string });
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('no text');
  return value;
}

/** Replaces the file in one step, with mode 0600. */
export function writeContexts(env: Env, contexts: ContextFile): void {
  const file = contextFilePath(env);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  // No other user can write to the folder; the name only tells two runs apart.
  const next = `${file}.${process.pid}.${Date.now().toString(36)}`;
  writeFileSync(next, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(next, file);
}
