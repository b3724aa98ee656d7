import { describe, expect, it } from '@jest/globals';
import type { Snapshot, SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { startTestDataPath } from '../../test/data-path.ts';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startFailingUpstream, type UpstreamFailure } from '../../test/failing-upstream.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { patientClock } from '../../test/patient-clock.ts';
import { send } from '../../test/send.ts';
import { startStuckListener } from '../../test/stuck-listener.ts';
import { closedPort } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'POST', 'PATCH'] as const;
const RETRY_COUNTS = [0, 2] as const;
const LISTED = [429, 502, 503, 504];
/** May be short, because the clock of this test waits until a request has arrived. */
const SILENCE_MS = 20;
/** Longer than a small body that is always kept, and than MAX_RETRY_BODY_BYTES of this test. */
const LONG = 'x'.repeat(150_000);

const BODIES = {
  none: { headers: {}, parts: [] },
  short: { headers: { 'content-length': '5' }, parts: ['hello'] },
  'short, in chunks': { headers: { 'transfer-encoding': 'chunked' }, parts: ['hel', 'lo'] },
  long: { headers: { 'content-length': String(LONG.length) }, parts: [LONG] },
  'long, in chunks': { headers: { 'transfer-encoding': 'chunked' }, parts: [LONG] },
} as const;

interface Policy {
  readonly unsafe: SnapshotRoute['retry']['unsafe_methods'];
  readonly keyed: boolean;
}

const POLICIES: readonly Policy[] = [
  { unsafe: 'never', keyed: false },
  { unsafe: 'never', keyed: true },
  { unsafe: 'with_idempotency_key', keyed: false },
  { unsafe: 'with_idempotency_key', keyed: true },
  { unsafe: 'always', keyed: false },
];

type Failure = UpstreamFailure | 'refused' | 'stuck';

interface Cell {
  readonly method: (typeof METHODS)[number];
  readonly body: keyof typeof BODIES;
  readonly policy: Policy;
  readonly retryCount: number;
}

/** The number of attempts that docs/use/policies/retries-and-deadlines.md promises. */
function documentedAttempts(failure: Failure, cell: Cell): number {
  const all = 1 + cell.retryCount;
  // Nothing was sent: always. The body is not read before there is a connection.
  if (failure === 'refused' || failure === 'stuck') return all;
  // Never after the response began, and only for the listed statuses, a reset or a timeout.
  if (['reset_in_body', '404', '500'].includes(failure)) return 1;
  // Sent: only for an idempotent method, or if the route allows it.
  const { unsafe, keyed } = cell.policy;
  const safeToRepeat =
    (cell.method !== 'POST' && cell.method !== 'PATCH') ||
    unsafe === 'always' ||
    (unsafe === 'with_idempotency_key' && keyed);
  // A body longer than MAX_RETRY_BODY_BYTES is not kept.
  const kept = !cell.body.startsWith('long');
  return safeToRepeat && kept ? all : 1;
}

const laneName = ({ policy, retryCount }: Pick<Cell, 'policy' | 'retryCount'>) =>
  `${policy.unsafe}-${policy.keyed ? 'keyed' : 'plain'}-${retryCount}`.replaceAll('_', '-');

const LANES = POLICIES.flatMap((policy) =>
  RETRY_COUNTS.map((retryCount) => ({
    policy,
    retryCount,
    name: laneName({ policy, retryCount }),
  })),
);

/** A route and a service for each lane, because the retry budget belongs to the service. */
function lanesSnapshot(upstream: string, token: string, perAttemptMs: number | null): Snapshot {
  // A process that is stopped for seconds must not reach the deadline, which ends the attempts.
  const base = testSnapshot({ upstreams: [upstream], timeout_ms: 60_000 }, token);
  const [service] = base.services;
  const [route] = base.routes;
  if (service === undefined || route === undefined) throw new Error('the snapshot is empty');
  return {
    ...base,
    version: 2,
    services: LANES.map(({ name }) => ({
      ...service,
      id: `svc_${name}`,
      name,
      upstreams: service.upstreams.map((one) => ({ ...one, id: `ups_${name}` })),
    })),
    routes: LANES.map(({ name, policy, retryCount }) => ({
      ...route,
      id: `rte_${name}`,
      name,
      retry_count: retryCount,
      versions: [{ name: null, service_id: `svc_${name}`, weight: 1 }],
      rate_limit: { ...route.rate_limit, limit: 100_000 },
      retry: {
        on_statuses: LISTED,
        per_attempt_timeout_ms: perAttemptMs,
        backoff_ms: 0,
        unsafe_methods: policy.unsafe,
      },
    })),
  };
}

async function setUp(failure: Failure) {
  const failing =
    failure === 'refused' || failure === 'stuck'
      ? undefined
      : opened(await startFailingUpstream(failure));
  const url =
    failing?.url ??
    (failure === 'stuck'
      ? opened(await startStuckListener()).url
      : `http://127.0.0.1:${await closedPort()}`);
  const environment = {
    MAX_RETRY_BODY_BYTES: '100000',
    ...(failure === 'stuck' ? { CONNECT_TIMEOUT_MS: '25' } : {}),
  };
  const gateway = opened(
    await startTestDataPath({ upstreams: [url] }, { environment, clock: patientClock }),
  );
  await gateway.use(lanesSnapshot(url, gateway.token, failure === 'silence' ? SILENCE_MS : null));
  return { gateway, arrivals: (id: string) => failing?.arrivals(id) ?? 0 };
}

const sentFailures: readonly UpstreamFailure[] = [
  'reset',
  'close',
  'reset_early',
  'reset_in_head',
  'reset_in_body',
  'garbage',
  'silence',
  '404',
  '429',
  '500',
  '502',
  '503',
  '503_early',
  '504',
];

describe('over every method, body, policy and retry_count, a request', () => {
  it.each<Failure>(['refused', 'stuck', ...sentFailures])(
    'that fails with %s is attempted and arrives as often as documented',
    async (failure) => {
      const { gateway, arrivals } = await setUp(failure);
      let cells = 0;
      const wrong: unknown[] = [];
      const runLane = async (lane: (typeof LANES)[number]) => {
        for (const method of METHODS) {
          for (const body of Object.keys(BODIES) as Cell['body'][]) {
            const cell: Cell = { method, body, ...lane };
            // The body of a keyed request is always kept for its fingerprint.
            if (cell.policy.keyed && body.startsWith('long')) continue;
            cells += 1;
            const response = await send(gateway.port, {
              method,
              path: `/v1/proxy/${lane.name}`,
              headers: {
                ...BODIES[body].headers,
                authorization: `Bearer ${gateway.token}`,
                ...(cell.policy.keyed ? { 'idempotency-key': `k${cells}` } : {}),
              },
              body: BODIES[body].parts,
            });
            const { attempts } = await gateway.recordOf(response.requestId);
            const expected = documentedAttempts(failure, cell);
            const arrived = failure === 'refused' || failure === 'stuck' ? 0 : expected;
            const got = { attempts: attempts.length, arrived: arrivals(response.requestId) };
            if (got.attempts !== expected || got.arrived !== arrived) {
              wrong.push({ ...cell, expected, got, status: response.status });
            }
          }
        }
      };
      await Promise.all(LANES.map(runLane));
      expect(wrong).toEqual([]);
      expect(cells).toBe(6 * METHODS.length * 5 + 4 * METHODS.length * 3);
    },
    60_000,
  );
});
