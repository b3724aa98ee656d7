import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/**
 * The next message of a child process.
 *
 * @throws the reason of the signal when it is aborted, and an error if the process ends before it sends one
 */
export async function nextMessage(child: ChildProcess, signal: AbortSignal): Promise<unknown> {
  const done = new AbortController();
  const ended = AbortSignal.any([done.signal, signal]);
  const hasExited = child.exitCode !== null || child.signalCode !== null;
  const exit = hasExited ? Promise.resolve() : once(child, 'exit', { signal: ended });
  const exited = exit.then(() => {
    throw new Error(`a process has ended: ${child.spawnargs.slice(1).join(' ')}`);
  });
  try {
    const messages = once(child, 'message', { signal: ended }) as Promise<unknown[]>;
    const [message] = await Promise.race([messages, exited]);
    return message;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    done.abort();
  }
}
