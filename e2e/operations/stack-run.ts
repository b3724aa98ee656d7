import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@gateway/local-stack/process/free-port';
import { eventually } from '@gateway/shared/test/eventually';
import { expect } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Variables of this test run that would configure the stack or its npm. */
const ofTestRun =
  /^(?:npm_|GATEWAY_|CONTROL_PLANE_|DATA_PLANE|DEFAULT_|TEST_|JEST_|NODE_ENV|DATABASE_URL|NATS_URL|REGION|LOG_LEVEL)/;
const ofMachine = Object.entries(process.env).filter(([name]) => !ofTestRun.test(name));

/** One run of `npm start` in its own process group, as in a shell. */
export interface StackRun {
  readonly child: ChildProcess;
  readonly baseUrl: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its output so far. */
  stdout(): string;
  /** The same without the lines of npm. */
  stderr(): string;
  /** Sends SIGINT to the process group, as a terminal does at Ctrl-C. */
  pressCtrlC(): void;
  /** Resolves when it has printed that the gateway is ready. */
  serving(): Promise<void>;
  /** Resolves with the exit code, or null if a signal ended it. */
  ended(): Promise<number | null>;
}

/** Ports that are free now, as variables of a stack. */
export async function stackPorts(): Promise<Record<string, string>> {
  const names = [
    'GATEWAY_PORT',
    'CONTROL_PLANE_PORT',
    'DATA_PLANE_ADMIN_PORT',
    'CONTROL_PLANE_ADMIN_PORT',
  ];
  const ports = await Promise.all(names.map(() => freePort()));
  return Object.fromEntries(names.map((name, index) => [name, String(ports[index])]));
}

export function runStack(env: Readonly<Record<string, string>>): StackRun {
  const child = spawn('npm', ['--loglevel=error', 'start'], {
    cwd: root,
    detached: true,
    env: { ...Object.fromEntries(ofMachine), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (written.stdout += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (written.stderr += chunk.toString('utf8')));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    child,
    baseUrl: `http://127.0.0.1:${env['GATEWAY_PORT'] ?? ''}`,
    env,
    stdout: () => written.stdout,
    stderr: () => written.stderr.replace(/^npm .*\n/gm, ''),
    pressCtrlC: () => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
    },
    ended: () => ended,
    serving: () =>
      eventually(
        () => {
          if (written.stdout.includes('Ctrl-C stops everything')) return;
          if (child.exitCode === null) throw new Error(`not yet: ${written.stdout}`);
          throw new Error(`ended with ${child.exitCode}: ${written.stdout}${written.stderr}`);
        },
        { deadlineMs: 60_000 },
      ),
  };
}

/** Waits until no process of the folder is left. The guard of an ended process ends a moment after it. */
export function noProcessOf(folder: string, deadlineMs = 2000): Promise<void> {
  return eventually(() => expect(processesOf(folder)).toEqual([]), { deadlineMs });
}

/** Pids of every process whose command line or environment names the folder; needs Linux. */
function processesOf(folder: string): number[] {
  const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return names.map(Number).filter((pid) => {
    const text = ['cmdline', 'environ'].map((part) => {
      try {
        return readFileSync(path.join('/proc', String(pid), part), 'utf8');
      } catch {
        // The process has ended in between.
        return '';
      }
    });
    return text.join('\0').includes(folder);
  });
}
