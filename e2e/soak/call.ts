import { Agent, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';

export interface Call {
  readonly url: string;
  readonly token: string | undefined;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Instead of a body: so many chunks of 64 KiB, unannounced. */
  readonly chunks?: number;
  /** Cuts the connection this long after the beginning, ms. */
  readonly abortAfterMs?: number;
  /** A connection of its own, closed after. */
  readonly lone?: boolean;
}

export interface Answered {
  /** undefined where the answer did not come, or not whole. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly error: string | undefined;
}

/** Longer than any deadline that a route of the soak has. */
const TIMEOUT_MS = 30_000;
const CHUNK = Buffer.alloc(64 * 1024, 'chunk ');

/** Callers that keep their connections, as applications do. */
export class Callers {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  /** Makes one call; never rejects. */
  async call(options: Call): Promise<Answered> {
    const signal =
      options.abortAfterMs === undefined
        ? AbortSignal.timeout(TIMEOUT_MS)
        : AbortSignal.timeout(options.abortAfterMs);
    let requestId: string | undefined;
    try {
      const sent = request(options.url, {
        method: options.method ?? 'GET',
        agent: options.lone === true ? false : this.#agent,
        headers: {
          ...(options.token !== undefined && { authorization: `Bearer ${options.token}` }),
          ...options.headers,
        },
        signal,
      });
      const responding = once(sent, 'response') as Promise<[IncomingMessage]>;
      for (let left = options.chunks ?? 0; left > 0; left -= 1) sent.write(CHUNK);
      sent.end(options.body);
      const [response] = await responding;
      requestId = String(response.headers['x-request-id']);
      response.resume();
      await finished(response);
      return { status: response.statusCode, requestId, error: undefined };
    } catch (error) {
      const { code, name } = error as NodeJS.ErrnoException;
      return { status: undefined, requestId, error: code ?? name };
    }
  }

  close(): void {
    this.#agent.destroy();
  }
}
