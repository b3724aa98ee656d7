import { connect, type Socket } from 'node:net';
import { firstBytes } from '../../load/first-bytes.ts';
import { holdConnections, type HeldConnections } from '../../load/hold-connections.ts';
import type { LoadOutcome } from '../../load/outcome.ts';
import { outcomeOf } from './outcome-of.ts';

export interface EventSource {
  readonly url: string;
  readonly authorization: string;
  readonly signal: AbortSignal;
}

const EVENT = /^data: ([\d.]+) /gm;

/**
 * Callers of a stream of server-sent events, which begin with the time when they were sent, in ms since the Unix epoch.
 */
export class EventCallers {
  #held: HeldConnections | undefined = undefined;
  #timesUs: number[] = [];

  private constructor() {}

  /** Resolves when every caller has received the head of its response. @throws if a response is not 200 */
  static async open(source: EventSource, count: number): Promise<EventCallers> {
    const callers = new EventCallers();
    callers.#held = await holdConnections(count, source.signal, (signal) =>
      callers.#openOne({ ...source, signal }),
    );
    return callers;
  }

  /** How many events have arrived since the last call of `receive`. */
  get received(): number {
    return this.#timesUs.length;
  }

  /** Counts the events that arrive until the promise resolves. A caller whose stream has ended counts as failed. */
  async receive(until: Promise<unknown>): Promise<LoadOutcome> {
    this.#timesUs = [];
    const startMs = performance.now();
    await until;
    return outcomeOf(this.#timesUs, this.#held?.closed ?? 0, performance.now() - startMs);
  }

  close(): void {
    this.#held?.close();
  }

  async #openOne({ url, authorization, signal }: EventSource): Promise<Socket> {
    const { hostname, port, pathname, host } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), signal });
    socket.on('error', () => undefined);
    socket.write(
      `GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${authorization}\r\n\r\n`,
    );
    const text = (await firstBytes(socket)).toString('latin1');
    if (!text.startsWith('HTTP/1.1 200 ')) throw new Error(`no events: ${text.slice(0, 80)}`);
    return socket.on('data', (bytes: Buffer) => this.#received(bytes.toString('latin1')));
  }

  #received(text: string): void {
    const nowMs = performance.timeOrigin + performance.now();
    for (const [, sentMs] of text.matchAll(EVENT)) {
      this.#timesUs.push((nowMs - Number(sentMs)) * 1000);
    }
  }
}
