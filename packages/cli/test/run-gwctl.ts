import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInProcess, type Ran } from './run-in-process.ts';

const BIN = fileURLToPath(new URL('../bin/gwctl.mjs', import.meta.url));

/** Runs gwctl with contexts of its own. */
export interface Gwctl {
  readonly configHome: string;
  /** Runs a command in this process, because a process for each would take most of the time of the tests. */
  run(args: readonly string[], more?: RunOptions): Promise<Ran>;
  /** Starts a command as a process of its own, which runs until it is interrupted. */
  start(args: readonly string[], more?: RunOptions): Running;
  remove(): void;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Running {
  /** What it has written so far. */
  stdout(): string;
  stderr(): string;
  /** Sends SIGINT, as a terminal does at ^C. */
  pressCtrlC(): void;
  readonly ended: Promise<Ran>;
}

/** @param env of every run, such as `GATEWAY_URL` */
export function openGwctl(env: Readonly<Record<string, string>> = {}): Gwctl {
  const configHome = mkdtempSync(path.join(tmpdir(), 'gwctl-'));
  const children: ChildProcess[] = [];
  const start = (
    args: readonly string[],
    { stdin = '', env: more = {} }: RunOptions = {},
  ): Running => {
    const child = spawn(process.execPath, [BIN, ...args], {
      env: {
        PATH: process.env['PATH'],
        // Two thirds of a run would be compiling.
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        XDG_CONFIG_HOME: configHome,
        ...env,
        ...more,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    children.push(child);
    const text = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (chunk: string) => (text[name] += chunk));
    }
    // A command that does not read stdin may have ended.
    child.stdin.on('error', () => undefined).end(stdin);
    return {
      stdout: () => text.stdout,
      stderr: () => text.stderr,
      pressCtrlC: () => void child.kill('SIGINT'),
      ended: new Promise((resolve, reject) => {
        child.once('error', reject);
        child.once('close', (code) => resolve({ code, ...text }));
      }),
    };
  };
  return {
    configHome,
    start,
    run: (args, { stdin = '', env: more = {} } = {}) =>
      runInProcess(args, {
        stdin,
        env: { XDG_CONFIG_HOME: configHome, ...env, ...more },
        unicode: false,
      }),
    remove() {
      // A test that failed may have left one.
      for (const child of children) child.kill();
      rmSync(configHome, { recursive: true });
    },
  };
}
