import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from '@gateway/shared/test/eventually';
import type { Program } from './program.ts';

export interface Daemon {
  /** Ends the process, and waits for it. */
  stop(): Promise<void>;
}

/** Starts a program that stays in the foreground, and waits until it listens at the port. */
export async function startDaemon(
  { file, env }: Program,
  args: readonly string[],
  port: number,
): Promise<Daemon> {
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: 'ignore' });
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  try {
    await eventually(async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.destroy();
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}
