import { randomUUID } from 'node:crypto';
import type { Answered, Call, Callers } from './call.ts';
import type { Outcomes } from './outcomes.ts';

/** What callers need to know about the gateway. */
export interface CallerEnvironment {
  readonly callers: Callers;
  readonly outcomes: Outcomes;
  /** The base URL of each data plane in turn. */
  base(): string;
  /** A secret that is valid now; it is rotated while the load runs. */
  token(): string;
}

/** One kind of call, and its share of all calls. */
export interface Kind {
  readonly name: string;
  readonly weight: number;
  /** Makes one call, or a few related ones, and records the results. Never rejects. */
  run(environment: CallerEnvironment, count: number): Promise<void>;
}

type Plain = Omit<Call, 'url' | 'token'> & {
  readonly path: string;
  readonly token?: string | null;
};

/** A kind whose calls end with one of these statuses or `cut`; `recorded`: each call has a record. */
function kind(
  name: string,
  weight: number,
  expected: readonly (number | 'cut')[],
  make: (count: number) => Plain | readonly Plain[],
  recorded = true,
): Kind {
  const wanted = new Set(expected.map(String));
  return {
    name,
    weight,
    async run(environment, count) {
      const calls = [make(count)].flat();
      await Promise.all(
        calls.map(async ({ path, token, ...call }) => {
          const secret = token === undefined ? environment.token() : (token ?? undefined);
          const url = `${environment.base()}${path}`;
          const answered = await environment.callers.call({ ...call, url, token: secret });
          const outcome = outcomeOf(answered, call.abortAfterMs !== undefined);
          const requestId = recorded ? answered.requestId : undefined;
          environment.outcomes.add(name, outcome, wanted.has(outcome), requestId);
        }),
      );
    },
  };
}

function outcomeOf({ status, error }: Answered, aborts: boolean): string {
  if (status !== undefined) return String(status);
  return aborts ? 'cut' : `no response (${error ?? ''})`;
}

const JSON_BODY = { 'content-type': 'application/json' };
const BODY = JSON.stringify({ amount: 5, currency: 'EUR' });
/** One byte more than the route accepts. */
export const MAX_SMALL_BODY_BYTES = 1024;
const post = { method: 'POST', headers: JSON_BODY, body: BODY } as const;

/** The routes `steady`, `limited`, `small` and `bad` are created in `create-resources.ts`. */
export const KINDS: readonly Kind[] = [
  kind('GET', 55, [200], () => ({ path: '/v1/proxy/steady/orders?page=2' })),
  kind('POST', 25, [200], () => ({ ...post, path: '/v1/proxy/steady/orders' })),
  kind('POST with a new key', 8, [200], () => ({
    ...post,
    path: '/v1/proxy/steady/orders',
    headers: { ...JSON_BODY, 'idempotency-key': randomUUID() },
  })),
  kind('two POSTs with one key', 2, [200], () => {
    const headers = { ...JSON_BODY, 'idempotency-key': randomUUID() };
    const one = { ...post, path: '/v1/proxy/steady/slow/20', headers };
    return [one, one];
  }),
  kind('over a quota', 12, [200, 429], () => ({ path: '/v1/proxy/limited' })),
  kind('upload in chunks, 2 MB', 0.7, [200], () => ({
    method: 'PUT',
    path: '/v1/proxy/steady/upload',
    chunks: 32,
  })),
  kind('download, 2 MB', 0.7, [200], () => ({ path: '/v1/proxy/steady/large' })),
  kind('new connection', 5, [200], () => ({ path: '/v1/proxy/steady', lone: true })),
  kind('disconnects before the response', 2, ['cut'], () => ({
    path: '/v1/proxy/steady/slow/2000',
    abortAfterMs: 50,
  })),
  kind('disconnects during the response', 1, ['cut', 200], (count) => ({
    path: '/v1/proxy/steady/large',
    abortAfterMs: 5 + (count % 20),
  })),
  kind('disconnects during its upload', 1, ['cut', 200], (count) => ({
    method: 'PUT',
    path: '/v1/proxy/steady/upload',
    chunks: 64,
    abortAfterMs: 5 + (count % 20),
  })),
  // Within AUTH_FAILURE_LIMIT, which applies to each data plane and minute.
  kind('without a token', 1, [401], () => ({ path: '/v1/proxy/steady', token: null })),
  kind('with a wrong token', 1, [401], () => ({
    path: '/v1/proxy/steady',
    token: `gwt_${'x'.repeat(43)}`,
  })),
  kind('unknown route', 3, [404], (count) => ({ path: `/v1/proxy/unknown-${count % 1000}` })),
  kind('method not allowed', 2, [405], () => ({ path: '/v1/proxy/small', method: 'DELETE' })),
  kind('body too large', 2, [413], () => ({
    ...post,
    path: '/v1/proxy/small',
    body: 'x'.repeat(MAX_SMALL_BODY_BYTES + 1),
  })),
  kind('invalid key', 1, [400], () => ({
    ...post,
    path: '/v1/proxy/steady',
    headers: { ...JSON_BODY, 'idempotency-key': 'x'.repeat(256) },
  })),
  kind('upstream responds 500', 3, [500], () => ({ path: '/v1/proxy/bad/status/500' })),
  kind('upstream breaks off', 2, [502], () => ({ ...post, path: '/v1/proxy/bad/reset' })),
  kind('upstream fails every other time', 2, [200, 503], () => ({ path: '/v1/proxy/bad/flaky' })),
  kind('upstream is down', 2, [502], () => ({ path: '/v1/proxy/dead' })),
  kind('deadline passes', 2, [504], () => ({ path: '/v1/proxy/short-deadline/slow/1000' })),
  kind(
    'management through a data plane',
    2,
    [200],
    () => ({ path: '/v1/routes?limit=10' }),
    // Only requests on the proxy path have a record.
    false,
  ),
];
