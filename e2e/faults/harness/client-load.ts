import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/** The result of one request of the load. */
export interface LoadAnswer {
  /** A `repeated` request is a keyed one that was answered with 2xx, sent once more. */
  readonly kind: 'get' | 'keyed' | 'repeated';
  /** The base URL to which it was sent. */
  readonly target: string;
  /** On the monotonic clock of this process. */
  readonly sentAtMs: number;
  readonly endedAtMs: number;
  /** 0 if there was no complete response. */
  readonly status: number;
  /** Empty if the head of a response did not arrive. */
  readonly requestId: string;
  /** The gateway's error code, or that of the socket if there was no response; undefined on success. */
  readonly errorCode: string | undefined;
  /** Whether the response had `Connection: close`. */
  readonly closes: boolean;
}

export interface ClientLoadOptions {
  /** Base URLs of data planes. A client uses the first one that accepts its connection. */
  readonly targets: readonly string[];
  readonly token: string;
  /** Names of the routes that the two clients use. */
  readonly getRoute: string;
  readonly keyedRoute: string;
  /** Pause between two requests of a client, ms. */
  readonly paceMs?: number;
  /** The number of clients of each kind; 1 by default. */
  readonly pairs?: number;
  /** Whether each request with a key that succeeded is sent once more, with the same key. */
  readonly repeatsKeys?: boolean;
}

/**
 * Two clients or more, each with one keep-alive connection and one request at a time: half of them send GETs, the others
 * POSTs, each with a new key.
 */
export interface ClientLoad {
  /** In the order in which they ended. */
  readonly answers: readonly LoadAnswer[];
  /** Requests that were sent and are not finished. */
  readonly inFlight: number;
  /** Resolves when each client has received this many further responses, of any status. */
  more(count: number): Promise<void>;
  /** Continues for this long. */
  goOn(durationMs: number): Promise<void>;
  /** Sends no further requests, and resolves when those in flight have ended. */
  stop(): Promise<void>;
}

const PACE_MS = 10;
const REQUEST_TIMEOUT_MS = 15_000;
/** Pause after no target accepted a connection. */
const REFUSED_PAUSE_MS = 50;
const KINDS = ['get', 'keyed'] as const;

type Kind = LoadAnswer['kind'];

const passed = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * Keeps two clients busy until it is stopped. If a target refuses a connection or sends
 * `Connection: close`, the client goes to the next target, as a load balancer does. So no request
 * is sent twice.
 */
export function startClientLoad(options: ClientLoadOptions): ClientLoad {
  const answers: LoadAnswer[] = [];
  const counts = { get: 0, keyed: 0 };
  const state = { inFlight: 0, stopped: false };

  async function run(kind: (typeof KINDS)[number]): Promise<void> {
    const client = new LoadClient(options);
    while (!state.stopped) {
      state.inFlight += 1;
      const key = randomUUID();
      const answer = await client.send(kind, key);
      answers.push(answer);
      if (kind === 'keyed' && options.repeatsKeys === true && answer.status === 200) {
        answers.push(await client.send('repeated', key));
      }
      state.inFlight -= 1;
      counts[kind] += 1;
      await passed(options.paceMs ?? PACE_MS);
    }
    client.close();
  }

  const pairs = Array.from({ length: options.pairs ?? 1 }, () => KINDS).flat();
  const ended = Promise.all(pairs.map(run));
  const isStopped = () => state.stopped;
  return {
    answers,
    get inFlight() {
      return state.inFlight;
    },
    async more(count) {
      const wanted = { get: counts.get + count, keyed: counts.keyed + count };
      while (!isStopped() && KINDS.some((kind) => counts[kind] < wanted[kind])) await passed(5);
    },
    goOn: passed,
    async stop() {
      state.stopped = true;
      await ended;
    },
  };
}

/** One client: a connection and its target. */
class LoadClient {
  readonly #options: ClientLoadOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #target = 0;

  constructor(options: ClientLoadOptions) {
    this.#options = options;
  }

  async send(kind: Kind, key: string): Promise<LoadAnswer> {
    const { targets } = this.#options;
    for (let tries = 1; ; tries += 1) {
      const answer = await this.#sendTo(targets[this.#target % targets.length] ?? '', kind, key);
      if (answer.closes || answer.errorCode === 'ECONNREFUSED') this.#target += 1;
      if (answer.errorCode !== 'ECONNREFUSED' || tries >= targets.length) return answer;
      await passed(REFUSED_PAUSE_MS);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  async #sendTo(target: string, kind: Kind, key: string): Promise<LoadAnswer> {
    const keyed = kind !== 'get';
    const { token, keyedRoute, getRoute } = this.#options;
    const sentAtMs = performance.now();
    const outgoing = request(`${target}/v1/proxy/${keyed ? keyedRoute : getRoute}`, {
      method: keyed ? 'POST' : 'GET',
      agent: this.#agent,
      timeout: REQUEST_TIMEOUT_MS,
      headers: {
        authorization: `Bearer ${token}`,
        ...(keyed && { 'content-type': 'application/json', 'idempotency-key': key }),
      },
    });
    outgoing.once('timeout', () => outgoing.destroy(new Error('no response in time')));
    const known = { kind, target, sentAtMs };
    let requestId = '';
    try {
      outgoing.end(keyed ? '{"amount":5}' : undefined);
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      const { headers, statusCode: status = 0 } = response;
      requestId = String(headers['x-request-id'] ?? '');
      const errorCode = headers['x-gateway-error'];
      await text(response);
      return {
        ...known,
        endedAtMs: performance.now(),
        status,
        requestId,
        errorCode: errorCode === undefined ? undefined : String(errorCode),
        closes: headers.connection === 'close',
      };
    } catch (error) {
      const errorCode = (error as NodeJS.ErrnoException).code ?? String(error);
      const ended = { endedAtMs: performance.now(), status: 0, closes: false };
      return { ...known, ...ended, requestId, errorCode };
    }
  }
}

/**
 * Whether a request failed. A refused key does not count. Nor does a repeated one that gets 409, because the outcome of the
 * first could not be stored: it is not sent again.
 */
export function isFailed(answer: LoadAnswer): boolean {
  const isUnknown =
    answer.kind === 'repeated' && answer.errorCode === 'idempotency_outcome_unknown';
  return (answer.status < 200 || answer.status > 299) && !isKeyRefused(answer) && !isUnknown;
}

/** A request with a key that was refused because the store was down. The caller may send it again. */
export function isKeyRefused({ status, errorCode }: LoadAnswer): boolean {
  return status === 503 && errorCode === 'idempotency_unavailable';
}
