import { Agent, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';

export interface Call {
  readonly url: string;
  readonly token: string | undefined;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Instead of a body: this many chunks of 64 KiB, without Content-Length. */
  readonly chunks?: number;
  /** Closes the connection this long after the start of the call, ms. */
  readonly abortAfterMs?: number;
  /** Uses a new connection, and closes it afterwards. */
  readonly lone?: boolean;
}

export interface Answered {
  /** undefined if there was no complete response. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly error: string | undefined;
}

/** Longer than the deadline of any route of the soak. */
const TIMEOUT_MS = 30_000;
const CHUNK = Buffer.alloc(64 * 1024, 'chunk ');

/** Callers with keep-alive connections, as applications have. */
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
