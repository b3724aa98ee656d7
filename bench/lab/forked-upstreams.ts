import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { nextMessage } from './next-message.ts';

/** Upstreams in processes of their own. Each sends its port to its parent, and ends when the channel closes. */
export class ForkedUpstreams {
  readonly #script: string;
  readonly #signal: AbortSignal;
  readonly #children: ChildProcess[] = [];

  /** @param signal of the run: when it is aborted, `start` rejects with its reason */
  constructor(script: URL, signal: AbortSignal) {
    this.#script = fileURLToPath(script);
    this.#signal = signal;
  }

  /** Starts one and returns its process id and its URL, which has no path. */
  async start(...args: readonly string[]): Promise<{ readonly pid: number; readonly url: string }> {
    this.#signal.throwIfAborted();
    const child = fork(this.#script, args);
    this.#children.push(child);
    const port = await nextMessage(child, this.#signal);
    return { pid: child.pid ?? 0, url: `http://127.0.0.1:${Number(port)}` };
  }

  stop(): void {
    for (const child of this.#children) if (child.connected) child.disconnect();
  }
}
