import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { LoadOutcome } from '../../load/outcome.ts';
import { outcomeOf } from './outcome-of.ts';

export interface EventSource {
  readonly url: string;
  readonly authorization: string;
  readonly signal: AbortSignal;
}

/** How many are opened at a time. */
const PARALLEL = 50;
const EVENT = /^data: ([\d.]+) /gm;

/**
 * Callers of a stream of server-sent events, which begin with the time when they were sent, in ms since the Unix epoch.
 */
export class EventCallers {
  readonly #signal: AbortSignal;
  readonly #sockets: Socket[] = [];
  #timesUs: number[] = [];
  #ended = 0;

  private constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Resolves when every caller has received the head of its response. @throws if a response is not 200 */
  static async open(source: EventSource, count: number): Promise<EventCallers> {
    const callers = new EventCallers(source.signal);
    let left = count;
    const work = async () => {
      while (left > 0) {
        left -= 1;
        await callers.#openOne(source);
      }
    };
    try {
      await Promise.all(Array.from({ length: PARALLEL }, work));
    } catch (error) {
      callers.close();
      throw error;
    }
    return callers;
  }

  /** Counts the events that arrive within this time. A caller whose stream has ended counts as failed. */
  async receive(seconds: number): Promise<LoadOutcome> {
    this.#timesUs = [];
    const startMs = performance.now();
    await delay(seconds * 1000, undefined, { signal: this.#signal });
    return outcomeOf(this.#timesUs, this.#ended, performance.now() - startMs);
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async #openOne({ url, authorization, signal }: EventSource): Promise<void> {
    const { hostname, port, pathname, host } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    this.#sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write(
      `GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${authorization}\r\n\r\n`,
    );
    const [head] = (await once(socket, 'data', { signal })) as [Buffer];
    const text = head.toString('latin1');
    if (!text.startsWith('HTTP/1.1 200 ')) throw new Error(`no events: ${text.slice(0, 80)}`);
    socket.on('data', (bytes: Buffer) => this.#received(bytes.toString('latin1')));
    socket.once('close', () => (this.#ended += 1));
  }

  #received(text: string): void {
    const nowMs = performance.timeOrigin + performance.now();
    for (const [, sentMs] of text.matchAll(EVENT)) {
      this.#timesUs.push((nowMs - Number(sentMs)) * 1000);
    }
  }
}
