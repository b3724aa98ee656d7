import createFetchClient from 'openapi-fetch';
import { startDeadline, systemClock, type Clock } from './deadline.ts';
import { ApiError, ConnectionError, isAnswer } from './errors.ts';
import { fetchWithRetries, type Fetch } from './fetch-with-retries.ts';
import type { paths } from './generated/api.ts';
import type { BodyOf, InitParameter, ItemOf, ListPath, Method, PathOf } from './operations.ts';

export type { components, operations, paths } from './generated/api.ts';
export { ApiError, ConnectionError, type ErrorCode, type ErrorDetail } from './errors.ts';

export interface ClientOptions {
  /** The address of the gateway, such as `https://gateway.example`. */
  readonly baseUrl: string;
  /** The secret of a token. Without it, `headers` or a cookie must authenticate the calls. */
  readonly token?: string;
  /** Sent with each call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How long a call may take, with its retries. Default: 30 seconds. */
  readonly timeoutMs?: number;
  /** Sent as `User-Agent` by Node. Browsers send their own. */
  readonly userAgent?: string;
  /** Default: the global fetch. */
  readonly fetch?: Fetch;
  readonly clock?: Clock;
  /** A number in [0, 1). */
  readonly random?: () => number;
  /** A new idempotency key. */
  readonly newKey?: () => string;
}

/** A successful response. */
export interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
  /** Send it as `If-Match` to change only what you have read. */
  readonly etag: string | undefined;
  readonly requestId: string | undefined;
  readonly headers: Headers;
}

type Call<M extends Method> = <Path extends PathOf<M>>(
  path: Path,
  ...init: InitParameter<M, Path>
) => Promise<Answer<BodyOf<M, Path>>>;

/**
 * Calls of the management API. Each resolves with a 2xx response. It rejects with an ApiError for any other response,
 * and with a ConnectionError if there is none. 429 and 503 are retried within the time of a call.
 */
export interface GatewayClient {
  readonly get: Call<'get'>;
  /** Sends an `Idempotency-Key`, a new one if `headers` has none. */
  readonly post: Call<'post'>;
  readonly put: Call<'put'>;
  readonly patch: Call<'patch'>;
  readonly delete: Call<'delete'>;
  /** All items of a list, page by page, as they are needed. */
  list<Path extends ListPath>(
    path: Path,
    ...init: InitParameter<'get', Path>
  ): AsyncGenerator<ItemOf<Path>, void, undefined>;
}

const TIMEOUT_MS = 30_000;

/** Creates a client of the management API. */
export function createClient(options: ClientOptions): GatewayClient {
  const { baseUrl, token, timeoutMs = TIMEOUT_MS, userAgent, clock = systemClock } = options;
  const { fetch = globalThis.fetch, random = Math.random, newKey = randomKey } = options;
  const raw = createFetchClient<paths>({
    baseUrl,
    headers: {
      ...options.headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
    },
  });

  async function call<Body>(
    method: Method,
    path: string,
    init: AnyInit = {},
  ): Promise<Answer<Body>> {
    const deadline = startDeadline(clock, timeoutMs, init.signal ?? undefined);
    let url = new URL(path, baseUrl).href;
    let answered: Response | undefined;
    const key = method === 'post' ? { 'idempotency-key': newKey() } : {};
    const request = {
      ...init,
      headers: { ...key, ...Object.fromEntries(new Headers(init.headers)) },
      signal: deadline.signal,
      async fetch(one: Request) {
        url = one.url;
        answered = await fetchWithRetries(one, { fetch, deadline, random });
        return answered;
      },
    };
    try {
      const { data, error, response } = await untyped(raw).request(method, path, request);
      if (!response.ok || !isAnswer(response, data)) throw new ApiError(response, error);
      const { status, headers } = response;
      const etag = headers.get('etag') ?? undefined;
      const requestId = headers.get('x-request-id') ?? undefined;
      return { status, headers, etag, requestId, body: data as Body };
    } catch (error) {
      if (error instanceof ApiError || init.signal?.aborted === true) throw error;
      // The body is not JSON, such as the page of a proxy.
      if (answered && isSyntaxError(error)) throw new ApiError(answered, undefined);
      throw unreachable(method, url, error);
    } finally {
      deadline.end();
    }
  }

  const caller =
    <M extends Method>(method: M): Call<M> =>
    (path: string, init?: AnyInit) =>
      call(method, path, init);

  async function* list(path: string, init: AnyInit = {}): AsyncGenerator {
    let cursor = init.params?.query?.['cursor'];
    do {
      const query = { ...init.params?.query, ...(typeof cursor === 'string' ? { cursor } : {}) };
      const page = await call<AnyPage>('get', path, { ...init, params: { ...init.params, query } });
      yield* page.body.data;
      cursor = page.body.next_cursor;
    } while (cursor !== null);
  }

  return {
    get: caller('get'),
    post: caller('post'),
    put: caller('put'),
    patch: caller('patch'),
    delete: caller('delete'),
    list: list as GatewayClient['list'],
  };
}

/** The options of a call whose path is only known when it runs. */
interface AnyInit {
  readonly params?: { readonly query?: Readonly<Record<string, unknown>> };
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | null;
}

interface AnyPage {
  readonly data: readonly unknown[];
  readonly next_cursor: string | null;
}

interface UntypedClient {
  request(
    method: string,
    path: string,
    init: object,
  ): Promise<{ data?: unknown; error?: unknown; response: Response }>;
}

/** The types of `Call` have checked the method, the path and the options. */
function untyped(client: object): UntypedClient {
  return client as UntypedClient;
}

function unreachable(method: Method, url: string, error: unknown): ConnectionError {
  const causes: string[] = [];
  for (let at = error; isErrorLike(at) && causes.length < 4; at = at.cause) {
    const text = textOfCause(at.message);
    if (text !== '') causes.push(text);
  }
  return new ConnectionError(`${method.toUpperCase()} ${url} failed: ${causes.join(': ')}`, {
    cause: error,
  });
}

/** OpenSSL describes a response that is not TLS with the names of its functions. */
function textOfCause(message: string): string {
  if (/wrong version number|packet length too long/.test(message)) {
    return 'the port does not speak TLS; is its address http://?';
  }
  return message.trim();
}

/** Errors of fetch may come from another realm, where `Error` is another class. */
function isErrorLike(
  value: unknown,
): value is { readonly message: string; readonly cause?: unknown } {
  return typeof value === 'object' && value !== null && 'message' in value;
}

function isSyntaxError(error: unknown): boolean {
  return isErrorLike(error) && 'name' in error && error.name === 'SyntaxError';
}

/** 128 random bits. `crypto.randomUUID` does not exist in browsers without TLS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
