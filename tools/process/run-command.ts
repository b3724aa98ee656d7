import { spawn } from 'node:child_process';
import { errorCode } from './errors.ts';

/** How a command ended: its exit code (null when a signal or the time limit ended it). */
export interface CommandResult {
  readonly code: number | null;
  /** stdout and stderr together, at most the last 64 KiB. */
  readonly output: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly gid?: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

const maxOutputCharacters = 64 * 1024;

/**
 * Runs a short command to its end, in its own session, so that Ctrl-C in the terminal does not interrupt it. A command that cannot
 * be run resolves with code 127 and the reason as its output. When its time is over or the signal aborts, it is killed with
 * its children.
 */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const { cwd, env, uid, gid, timeoutMs, signal } = options;
    const child = spawn(command, args, {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
    });
    const killAll = (): void => {
      if (child.pid === undefined || child.exitCode !== null) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch (error) {
        // ESRCH: it has ended meanwhile.
        if (errorCode(error) !== 'ESRCH') throw error;
      }
    };
    const timer = setTimeout(killAll, timeoutMs);
    if (signal?.aborted === true) killAll();
    signal?.addEventListener('abort', killAll);
    let output = '';
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-maxOutputCharacters);
    };
    const end = (result: CommandResult): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', killAll);
      resolve(result);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', (error) => end({ code: 127, output: error.message }));
    child.once('close', (code) => end({ code, output }));
  });
}

/**
 * Runs a command that must succeed.
 *
 * @returns its output
 * @throws Error with the command and its output
 */
export async function runOrThrow(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<string> {
  const { code, output } = await runCommand(command, args, options);
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} failed:\n${output.trim()}`);
  return output;
}
