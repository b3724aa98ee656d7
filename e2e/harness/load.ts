import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';

export interface LoadAnswer {
  readonly status: number;
  readonly requestId: string;
  readonly body: string;
}

/** Callers that each send one request after the other, until they are told to end or cannot connect. */
export interface Load {
  /** Every answer that was received whole, oldest first. */
  readonly answers: readonly LoadAnswer[];
  /** Why callers gave up: the codes of their connections' errors. */
  readonly failures: readonly string[];
  /** Calls that have begun and not ended. */
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
  /** No caller begins another call once this is true. */
  readonly ended?: () => boolean;
  /** The body of the n-th call, sent as JSON. */
  readonly body: (call: number) => unknown;
}

/**
 * Keeps POSTs under way. Each caller has one connection, kept alive, and opens another only where the
 * server closed that one: a connection that a stopping server never accepted cannot be told from one
 * that it cut, so a pool of more would blur what is looked at.
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
