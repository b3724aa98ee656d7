import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { UsageError } from '../program/exit-codes.ts';

const contextSchema = z.strictObject({
  url: z.string(),
  token: z.string(),
  environment: z.string().optional(),
});

const fileSchema = z.strictObject({
  current: z.string().optional(),
  contexts: z.record(z.string(), contextSchema),
});

/** A gateway, a token for it, and the environment that commands use. */
export type Context = Readonly<z.infer<typeof contextSchema>>;
export type ContextFile = z.infer<typeof fileSchema>;

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
    return fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // The message of the parser may quote a token.
    throw new UsageError(`${file} is not a file of contexts; delete it and run gwctl login`);
  }
}

/** Replaces the file in one step, with mode 0600. */
export function writeContexts(env: Env, contexts: ContextFile): void {
  const file = contextFilePath(env);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(next, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(next, file);
}
