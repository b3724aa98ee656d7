import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@gateway/local-stack/process/free-port';
import { eventually } from '@gateway/shared/testing/eventually';

const bootstrap = fileURLToPath(
  new URL('../../packages/local-stack/bin/bootstrap.mjs', import.meta.url),
);

/** One run of `npm start` as its script runs it. */
export interface StackRun {
  readonly child: ChildProcess;
  readonly baseUrl: string;
  readonly env: Readonly<Record<string, string>>;
  /** What it has written so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves when it has said that it serves. */
  serving(): Promise<void>;
  /** Resolves with the exit code, null where a signal ended it. */
  ended(): Promise<number | null>;
}

/** Ports that were free a moment ago, as the variables of a stack. */
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
  const child = spawn(process.execPath, [bootstrap, 'start'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
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
    stderr: () => written.stderr,
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

/** Pids of every process whose command line or environment names the folder; needs Linux. */
export function processesOf(folder: string): number[] {
  const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return names.map(Number).filter((pid) => {
    const text = ['cmdline', 'environ'].map((part) => {
      try {
        return readFileSync(path.join('/proc', String(pid), part), 'utf8');
      } catch {
        // It ended while we looked.
        return '';
      }
    });
    return text.join('\0').includes(folder);
  });
}
