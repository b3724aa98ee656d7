import { ApiError, createClient as createManagementClient } from '@gateway/client';

/** A response with its whole body. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  text(): Promise<string>;
  /** The body as JSON. */
  json(): unknown;
  /** The resource of a `{data, request_id}` body. */
  resource(): Resource;
  /** The page of a list body. */
  page(): Page;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, except a string, which is sent as it is. */
  readonly body?: unknown;
  /** null sends no Authorization. */
  readonly token?: string | null;
}

/** A resource of the management API. */
export type Resource = Readonly<Record<string, unknown>> & { readonly id: string };

export interface Page {
  readonly data: readonly Resource[];
  readonly next_cursor: string | null;
  readonly request_id: string;
}

/** Calls one base URL with one token. */
export interface Client {
  readonly baseUrl: string;
  readonly token: string;
  /**
   * Sends a request as it is, once. For traffic, and for tests of the wire: the contract of the API, its refusals of
   * callers, methods and malformed input, its quota (429) and its outages (503), and isolation of tenants.
   */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /**
   * These call the management API with its client, as users do: it repeats a call after 429 and 503, and sends an
   * `Idempotency-Key` with each POST. Resolves with the response as it came, whatever its status. What the client does
   * not send is sent as with `call`: traffic, a body that is not JSON, a request without a token.
   */
  get(path: string, options?: CallOptions): Promise<Answer>;
  post(path: string, body: unknown, options?: CallOptions): Promise<Answer>;
  patch(path: string, body: unknown, options?: CallOptions): Promise<Answer>;
  delete(path: string, options?: CallOptions): Promise<Answer>;
  /** Creates a resource. Rejects if the status is not 201. */
  create(path: string, body: unknown): Promise<Resource>;
  /** A request through the route; by default a POST of `{}`. */
  proxy(route: string, options?: CallOptions & { readonly method?: string }): Promise<Answer>;
  withToken(token: string): Client;
  at(baseUrl: string): Client;
}

const timeoutMs = 20_000;

/** The methods of the client of the management API, for paths that are only known when the test runs. */
type ManagementCalls = Record<Method, (path: string, init: object) => Promise<unknown>>;
type Method = 'get' | 'post' | 'patch' | 'delete';

export function createClient(baseUrl: string, token: string): Client {
  async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const headers = new Headers(options.headers);
    const bearer = options.token === undefined ? token : options.token;
    if (bearer !== null && !headers.has('authorization')) {
      headers.set('authorization', `Bearer ${bearer}`);
    }
    const { body } = options;
    if (body !== undefined && !headers.has('content-type')) {
      headers.set('content-type', 'application/json');
    }
    const response = await fetch(baseUrl + path, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return answerOf(response, await response.text());
  }

  async function manage(method: Method, path: string, options: CallOptions = {}): Promise<Answer> {
    if (!isForManagementClient(path, options)) return call(method.toUpperCase(), path, options);
    let answer: Answer | undefined;
    const client = createManagementClient({
      baseUrl,
      token: options.token ?? token,
      timeoutMs,
      async fetch(request) {
        const response = await fetch(request);
        const text = await response.text();
        answer = answerOf(response, text);
        const { status, headers } = response;
        return new Response(text === '' ? null : text, { status, headers });
      },
    });
    const { headers, body } = options;
    const init = { ...(headers && { headers }), ...(body !== undefined && { body }) };
    try {
      await (client as unknown as ManagementCalls)[method](path, init);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
    if (answer === undefined) throw new Error(`${method} ${path}: the client sent nothing`);
    return answer;
  }

  return {
    baseUrl,
    token,
    call,
    get: (path, options) => manage('get', path, options),
    post: (path, body, options) => manage('post', path, { ...options, body }),
    patch: (path, body, options) => manage('patch', path, { ...options, body }),
    delete: (path, options) => manage('delete', path, options),
    async create(path, body) {
      const answer = await manage('post', path, { body });
      if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.body}`);
      return answer.resource();
    },
    proxy(route, { method = 'POST', ...options } = {}) {
      const body = options.body ?? (method === 'GET' || method === 'HEAD' ? undefined : {});
      return call(method, `/v1/proxy/${route}`, { ...options, body });
    },
    withToken: (other) => createClient(baseUrl, other),
    at: (other) => createClient(other, token),
  };
}

function answerOf({ status, headers }: Response, text: string): Answer {
  return {
    status,
    headers,
    body: text,
    text: () => Promise.resolve(text),
    json: () => JSON.parse(text) as unknown,
    resource: () => (JSON.parse(text) as { data: Resource }).data,
    page: () => JSON.parse(text) as Page,
  };
}

/** Whether the client of the management API sends such a request. */
function isForManagementClient(path: string, { body, token, headers = {} }: CallOptions): boolean {
  const isManagement = /^\/v1\/(?!proxy(\/|$))/.test(path);
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const isUsual = !names.includes('content-type') && !names.includes('authorization');
  return isManagement && isUsual && typeof body !== 'string' && token !== null;
}
