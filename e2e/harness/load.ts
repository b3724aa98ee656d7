import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';

export interface LoadAnswer {
  readonly status: number;
  readonly requestId: string;
  readonly body: string;
}

/** Callers that send one request at a time until they are stopped or cannot connect. */
export interface Load {
  /** Every complete response, oldest first. */
  readonly answers: readonly LoadAnswer[];
  /** Error codes of the connections of callers that gave up. */
  readonly failures: readonly string[];
  /** Calls in flight. */
  readonly inFlight: number;
  /** Resolves when every caller has ended. */
  readonly ended: Promise<void>;
}

export interface LoadOptions {
  readonly url: string;
  readonly token: string;
  readonly callers: number;
  /** Of all callers together. */
  readonly maxCalls: number;
  /** When this is true, no caller starts another call. */
  readonly ended?: () => boolean;
  /** The body of the n-th call, sent as JSON. */
  readonly body: (call: number) => unknown;
}

/**
 * Keeps POSTs in flight. Each caller has one keep-alive connection, and opens another one only if
 * the server closed it. With a pool, a connection that a stopping server never accepted could not
 * be distinguished from one that it closed.
 */
export function startLoad(options: LoadOptions): Load {
  const answers: LoadAnswer[] = [];
  const failures: string[] = [];
  const state = { begun: 0, inFlight: 0 };

  async function run(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      while (state.begun < options.maxCalls && options.ended?.() !== true) {
        state.begun += 1;
        state.inFlight += 1;
        answers.push(await call(agent, options, state.begun));
        state.inFlight -= 1;
      }
    } catch (error) {
      state.inFlight -= 1;
      failures.push((error as NodeJS.ErrnoException).code ?? String(error));
    } finally {
      agent.destroy();
    }
  }

  return {
    answers,
    failures,
    get inFlight() {
      return state.inFlight;
    },
    ended: Promise.all(Array.from({ length: options.callers }, run)).then(() => undefined),
  };
}

async function call(agent: Agent, options: LoadOptions, count: number): Promise<LoadAnswer> {
  const { url, token } = options;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const sent = request(url, { method: 'POST', agent, headers });
  sent.end(JSON.stringify(options.body(count)));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = await text(response);
  return {
    status: response.statusCode ?? 0,
    requestId: String(response.headers['x-request-id']),
    body,
  };
}
