import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns';
import { systemClock, type Clock } from '@gateway/shared/clock';
import { withCoarseTimers } from '../src/timers/coarse-timers.ts';
import { systemRandom } from '@gateway/shared/ids';
import { METADATA_CIDRS } from '@gateway/shared/net/upstream-addresses';
import type { RequestRecord } from '@gateway/shared/records/record';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import type { ReadSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { UNPACED } from '@gateway/shared/pace';
import { createRunner } from '@gateway/shared/runner';
import type { ServedCertificate } from '@gateway/shared/tls/served-certificate';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { eventually } from '@gateway/shared/test/eventually';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { readConfig } from '../src/config.ts';
import type { TestService } from '../src/connection-tests/test-service.ts';
import { createLocalParts } from '../src/parts.ts';
import { startTraffic, type Traffic, type TrafficPorts } from '../src/traffic.ts';
import type { IdempotencyStore } from '../src/idempotency/store/idempotency-store.ts';
import { MemoryIdempotencyStore } from './idempotency/memory-store.ts';
import type { QuotaStore } from '../src/quota/quota-store.ts';
import { MemoryQuotaStore } from './quota/memory-store.ts';
import type { NameResolver } from '../src/upstream/dns/guarded-lookup.ts';

export interface TestDataPath extends Traffic {
  readonly testService: TestService;
  readonly url: string;
  /** A token of every environment, route and scope. */
  readonly token: string;
  readonly records: RequestRecord[];
  readonly registry: Registry;
  readonly logLines: string[];
  /** Replaces the configuration while requests are under way, as a data plane does. */
  use(snapshot: ReadSnapshot): Promise<void>;
  /** The same with a delta. */
  change(delta: Delta): void;
  /** Requests under way, as the metrics tell. */
  inFlight(): Promise<number>;
  /** The record of a response's request, once it is there. */
  recordOf(response: { readonly headers: Headers } | string): Promise<RequestRecord>;
  /** `fetch` of a path below /v1/proxy/ with the token. */
  call(path: string, init?: RequestInit & { duplex?: 'half' }): Promise<Response>;
}

export interface TestDataPathOptions {
  readonly snapshots?: readonly ReadSnapshot[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Leave out to deny what the local stack denies. */
  readonly denyCidrs?: readonly string[];
  readonly clock?: Clock;
  /** Stands for the resolver of the machine. */
  readonly resolve?: NameResolver;
  /** Leave out to have upstreams see nothing but the test's own requests. */
  readonly healthChecks?: boolean;
  /** That of health checks and other work in the background. Leave out to have the system clock, also if requests have another. */
  readonly healthClock?: Clock;
  /** Where keys are kept; this gateway's own memory unless given. */
  readonly idempotencyStore?: IdempotencyStore;
  /** Where quotas are counted; this gateway's own memory unless given. */
  readonly quotas?: QuotaStore & { readonly dropped: number };
  /** Given, the port has TLS. */
  readonly certificate?: ServedCertificate;
  /** Called with each record, before it is kept. */
  readonly onRecord?: () => void;
  /** Given, it has its connections from there instead of a port of its own. */
  readonly connections?: TrafficPorts['connections'];
  /** Given, it samples requests. */
  readonly tracing?: TrafficPorts['tracing'];
  /** Whether the configuration of every environment is loaded; true unless given. */
  readonly complete?: boolean;
}

const alwaysHealthy = () => Promise.resolve({ verdict: 'good' as const, detail: 'not_asked' });

/** A data path on a real port with real connections; only its configuration comes from the test. */
export async function startTestDataPath(
  route: Partial<SnapshotRoute> & { readonly upstreams: readonly string[] },
  options: TestDataPathOptions = {},
): Promise<TestDataPath> {
  const token = createTokenSecret();
  const snapshots = options.snapshots ?? [testSnapshot(route, token)];
  const clock = options.clock ?? withCoarseTimers(systemClock, 5);
  const records: RequestRecord[] = [];
  const logLines: string[] = [];
  const log = pino(
    { level: 'trace' },
    { write: (lines: string) => void logLines.push(...lines.trimEnd().split('\n')) },
  );
  const registry = new Registry();
  const config = readConfig({
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_PORT: '0',
    UPSTREAM_DENY_CIDRS: (options.denyCidrs ?? METADATA_CIDRS).join(','),
    DATA_PLANE_ID: 'test',
    GATEWAY_MASTER_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    DRAIN_GRACE_MS: '0',
    DRAIN_TIMEOUT_MS: '2000',
    ...options.environment,
  });
  const runner = createRunner(log);
  const parts = createLocalParts({
    config,
    runner,
    clock,
    random: systemRandom,
    log,
    registry,
    onHealthChange: () => undefined,
    onServed: () => undefined,
    substitutes: {
      resolve: options.resolve ?? lookup,
      health: {
        // Health checks always have a timer, and a test may count those of requests.
        clock: options.healthClock ?? withCoarseTimers(systemClock, 5),
        check: options.healthChecks === true ? undefined : alwaysHealthy,
      },
    },
  });
  for (const snapshot of snapshots) await parts.sink.apply(snapshot, UNPACED);
  const traffic = await startTraffic(parts, {
    ready: () => parts.table.current.environments.size > 0,
    complete: () => options.complete ?? true,
    quotas: options.quotas ?? new MemoryQuotaStore(1000),
    idempotencyStore: options.idempotencyStore ?? new MemoryIdempotencyStore(),
    clockOffsetMs: () => undefined,
    certificate: options.certificate,
    connections: options.connections,
    tracing: options.tracing,
    addRecord(record) {
      options.onRecord?.();
      records.push(JSON.parse(JSON.stringify(record)) as RequestRecord);
    },
  });
  const stop = async () => {
    await traffic.stop();
    await runner.stop();
  };
  let stopped: Promise<void> | undefined;
  const scheme = options.certificate === undefined ? 'http' : 'https';
  const url = `${scheme}://127.0.0.1:${traffic.port}`;
  return {
    port: traffic.port,
    explainWith: (quotas) => traffic.explainWith(quotas),
    testService: parts.testService,
    url,
    token,
    records,
    registry,
    logLines,
    async use(snapshot) {
      await parts.sink.apply(snapshot, UNPACED);
    },
    change: (delta) => parts.sink.applyDelta(delta),
    async inFlight() {
      const text = await registry.getSingleMetricAsString('gateway_requests_in_flight');
      return Number(/^gateway_requests_in_flight (\d+)$/m.exec(text)?.[1]);
    },
    // A test that stops it waits for one drain, and not for another one when it ends.
    stop: () => (stopped ??= stop()),
    recordOf(response) {
      const id = typeof response === 'string' ? response : response.headers.get('x-request-id');
      return eventually(() => {
        const found = records.find((record) => record.id === id);
        if (found === undefined) throw new Error(`no record of ${id}`);
        return found;
      });
    },
    call: (path, init = {}) =>
      fetch(`${url}/v1/proxy/${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
      }),
  };
}
