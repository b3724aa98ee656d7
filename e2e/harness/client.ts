import { createClient as createManagementClient } from '@gateway/client';

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
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  get(path: string, options?: CallOptions): Promise<Answer>;
  post(path: string, body: unknown, options?: CallOptions): Promise<Answer>;
  patch(path: string, body: unknown, options?: CallOptions): Promise<Answer>;
  /** Creates a resource with the client of the management API. Rejects if the status is not 201. */
  create(path: string, body: unknown): Promise<Resource>;
  /** A request through the route; by default a POST of `{}`. */
  proxy(route: string, options?: CallOptions & { readonly method?: string }): Promise<Answer>;
  withToken(token: string): Client;
  at(baseUrl: string): Client;
}

const timeoutMs = 20_000;

/** A response of the client of the management API, whose path is only known when the test runs. */
interface Answered {
  readonly status: number;
  readonly body: { readonly data: Resource };
}

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
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text,
      text: () => Promise.resolve(text),
      json: () => JSON.parse(text) as unknown,
      resource: () => (JSON.parse(text) as { data: Resource }).data,
      page: () => JSON.parse(text) as Page,
    };
  }

  const management = createManagementClient({ baseUrl, token, timeoutMs });

  return {
    baseUrl,
    token,
    call,
    get: (path, options) => call('GET', path, options),
    post: (path, body, options) => call('POST', path, { ...options, body }),
    patch: (path, body, options) => call('PATCH', path, { ...options, body }),
    async create(path, body) {
      const post = management.post as (path: string, init: object) => Promise<Answered>;
      const { status, body: answer } = await post(path, { body });
      if (status !== 201) throw new Error(`POST ${path}: ${status}`);
      return answer.data;
    },
    proxy(route, { method = 'POST', ...options } = {}) {
      const body = options.body ?? (method === 'GET' || method === 'HEAD' ? undefined : {});
      return call(method, `/v1/proxy/${route}`, { ...options, body });
    },
    withToken: (other) => createClient(baseUrl, other),
    at: (other) => createClient(other, token),
  };
}
