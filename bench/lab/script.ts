import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Run } from './run.ts';

/** A script of the bench in a process of its own, so that its cost does not count as what is measured. */
export interface Script {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Sends a message; resolves with the next one that comes back. @throws as `nextMessage` does */
  ask(message: object): Promise<unknown>;
  /** @throws the reason of the run when it is aborted, and an error if the process ends before */
  nextMessage(): Promise<unknown>;
  /** Closes the channel, at which the process ends, and waits until it has. */
  stop(): Promise<void>;
}

/** Starts a script that ends when its channel closes. Its only argument is the order as JSON. */
export function startScript(run: Run, file: URL, order: unknown = {}): Script {
  run.signal.throwIfAborted();
  const child = fork(fileURLToPath(file), [JSON.stringify(order)], { serialization: 'advanced' });
  const ended = once(child, 'exit');
  const stop = async () => {
    if (child.connected) child.disconnect();
    await ended;
  };
  run.defer(stop);
  const nextMessage = async () => {
    const done = new AbortController();
    const signal = AbortSignal.any([done.signal, run.signal]);
    const exited = ended.then(() => {
      throw new Error(`a process has ended: ${child.spawnargs.slice(1).join(' ')}`);
    });
    try {
      const messages = once(child, 'message', { signal }) as Promise<unknown[]>;
      const [message] = await Promise.race([messages, exited]);
      return message;
    } catch (error) {
      run.signal.throwIfAborted();
      throw error;
    } finally {
      done.abort();
    }
  };
  return {
    child,
    pid: child.pid ?? 0,
    stop,
    nextMessage,
    ask(message) {
      const answer = nextMessage();
      child.send(message);
      return answer;
    },
  };
}
