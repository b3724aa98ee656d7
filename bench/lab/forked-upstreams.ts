import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Upstreams in processes of their own. Each sends its port to its parent, and ends when the channel closes. */
export class ForkedUpstreams {
  readonly #script: string;
  readonly #children: ChildProcess[] = [];

  constructor(script: URL) {
    this.#script = fileURLToPath(script);
  }

  /** Starts one and returns its process id and its URL, which has no path. */
  async start(...args: readonly string[]): Promise<{ readonly pid: number; readonly url: string }> {
    const child = fork(this.#script, args);
    this.#children.push(child);
    const [port] = (await once(child, 'message')) as [number];
    return { pid: child.pid ?? 0, url: `http://127.0.0.1:${port}` };
  }

  stop(): void {
    for (const child of this.#children) child.disconnect();
  }
}
