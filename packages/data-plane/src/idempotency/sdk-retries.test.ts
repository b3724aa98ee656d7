import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { postWithSdk } from '../../test/idempotency/stripe-client.ts';
import { keySettings, openGateway } from '../../test/keyed-request.ts';

const PAGE = new URL('../../../../docs/use/policies/idempotency-keys.md', import.meta.url);
/** For requests that get a response. */
const PATIENT_MS = 60_000;
/** For requests that get none, and their repetitions. */
const SHORT_MS = 1500;
const NO_RESPONSE = 'no response in time';

const opened = closeAfterEach();

const status = (code: number, fields: Record<string, string> = {}) => {
  return (response: ServerResponse) =>
    void response.writeHead(code, { 'Content-Type': 'application/json', ...fields }).end('{}');
};

/** How the upstream ends the first request. All others get 200. */
const FAILURES: Readonly<Record<string, (response: ServerResponse) => void>> = {
  // The SDK retries a 429 only if the upstream asks for that, as Stripe does when a lock times out.
  429: status(429, { 'Stripe-Should-Retry': 'true' }),
  409: status(409),
  500: status(500),
  503: status(503),
  'connection reset after sending': (response) => void response.socket?.resetAndDestroy(),
  [NO_RESPONSE]: () => undefined,
};

type Column = Pick<SnapshotRoute, 'idempotency'> & Pick<SnapshotRoute['retry'], 'unsafe_methods'>;

/** The routes of the columns after the first one, which has no gateway. */
const ROUTES: readonly Column[] = [
  { idempotency: keySettings({}), unsafe_methods: 'never' },
  {
    idempotency: keySettings({ repeatable_statuses: [409, 425, 429, 503] }),
    unsafe_methods: 'never',
  },
  { idempotency: keySettings({ on_unknown: 'forward' }), unsafe_methods: 'never' },
  { idempotency: keySettings({}), unsafe_methods: 'with_idempotency_key' },
  { idempotency: keySettings({ mode: 'off' }), unsafe_methods: 'never' },
];

/** An upstream whose first requests fail so, one after the other. */
async function failing(...failures: readonly string[]): Promise<TestUpstream> {
  const upstream = opened(
    await startUpstream((_seen, response) => {
      const failure = failures[upstream.seen.length - 1];
      const end = failure === undefined ? status(200) : FAILURES[failure];
      end?.(response);
    }),
  );
  return upstream;
}

async function direct(failure: string): Promise<string> {
  const upstream = await failing(failure);
  const target = { url: upstream.url, path: '/v1/charges', apiKey: 'sk_test_1' };
  const end = await postWithSdk({ ...target, timeoutMs: attemptMs([failure]) });
  return cell(end, upstream);
}

const attemptMs = (failures: readonly string[]) =>
  failures.includes(NO_RESPONSE) ? SHORT_MS : PATIENT_MS;

async function through(
  failures: readonly string[],
  { idempotency, unsafe_methods }: Column,
): Promise<string> {
  const upstream = await failing(...failures);
  const gateway = opened(
    await openGateway(upstream, {
      idempotency,
      retry: {
        on_statuses: [502, 503, 504],
        per_attempt_timeout_ms: attemptMs(failures),
        backoff_ms: 0,
        unsafe_methods,
      },
      timeout_ms: PATIENT_MS,
    }),
  );
  const target = { url: gateway.url, path: '/v1/proxy/test/v1/charges', apiKey: gateway.token };
  const end = await postWithSdk({ ...target, timeoutMs: PATIENT_MS });
  return cell(end, upstream);
}

/** The key of the first request comes with each of them, because the upstream could not tell them apart otherwise. */
function cell(end: number | undefined, { seen }: TestUpstream): string {
  const keys = new Set(seen.map(({ headers }) => headers['idempotency-key']));
  expect([keys.size, keys.has(undefined)]).toEqual([1, false]);
  return `${end} (${seen.length})`;
}

/** The cells of the table of the page, by the first one of their row. */
async function documented(): Promise<Map<string, string[]>> {
  const text = await readFile(PAGE, 'utf8');
  const [, table = ''] = text.split('## Retries by an SDK');
  const rows = [...table.matchAll(/^\| (.+) \|$/gm)].map(([, row = '']) =>
    row.split('|').map((one) => one.trim()),
  );
  return new Map(
    rows.slice(2, 2 + Object.keys(FAILURES).length).map(([name = '', ...rest]) => [name, rest]),
  );
}

it("Stripe's SDK recovers from each failure as docs/use/policies/idempotency-keys.md says", async () => {
  const row = async (failure: string): Promise<[string, string[]]> => {
    const cells = [direct(failure), ...ROUTES.map((route) => through([failure], route))];
    return [failure, await Promise.all(cells)];
  };
  const answered = Object.keys(FAILURES).filter((failure) => failure !== NO_RESPONSE);
  const seen = await Promise.all(answered.map(row));
  // Alone, because its repetitions must be answered soon.
  seen.push(await row(NO_RESPONSE));
  expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(await documented()));
});

it('replays a 503 that is not listed, and a 429 after it if both ended attempts of one run', async () => {
  const [whole, repeats503, , retried] = ROUTES;
  if (whole === undefined || repeats503 === undefined || retried === undefined) {
    throw new Error('there are as many columns');
  }
  const cells = await Promise.all([
    through(['503', '429'], whole),
    through(['429', '503'], whole),
    through(['503', '429'], repeats503),
    through(['503', '429'], retried),
  ]);
  expect(cells).toEqual(['503 (1)', '503 (2)', '200 (3)', '429 (2)']);
});
