import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** A pipe that nobody reads, for the log of a process. */
export interface UnreadPipe {
  /** A command that starts another one with its log in the pipe. */
  readonly launcher: readonly string[];
  /** Reads the pipe from now on, and removes it when it is closed. */
  read(): void;
  close(): Promise<void>;
}

export async function openUnreadPipe(): Promise<UnreadPipe> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-log-pipe-'));
  const pipe = path.join(folder, 'log');
  await promisify(execFile)('mkfifo', [pipe]);
  // Open for both: a pipe without a reader cannot be opened for writing.
  const { O_RDWR, O_NONBLOCK } = constants;
  const handle = await open(pipe, O_RDWR | O_NONBLOCK);
  let reader: Socket | undefined;
  return {
    launcher: ['sh', '-c', `exec "$@" > "${pipe}" 2>&1`, 'sh'],
    read() {
      reader ??= new Socket({ fd: handle.fd, readable: true, writable: false }).resume();
    },
    async close() {
      reader?.destroy();
      await handle.close().catch(() => undefined);
      await rm(folder, { recursive: true });
    },
  };
}
