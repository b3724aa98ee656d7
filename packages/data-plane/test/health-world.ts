import { manualClock } from '@gateway/shared/test/manual-clock';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { Registry } from 'prom-client';
import { compileEnvironment } from '../src/routing-table/compile.ts';
import { EMPTY_TABLE, withEnvironment } from '../src/routing-table/routing-table.ts';
import { runAtOnce } from '@gateway/shared/pace';
import { UpstreamHealth } from '../src/upstream/health/upstream-health.ts';
import { captureLog } from './captured-log.ts';

export const INTERVAL_MS = 5000;

/** The health of upstreams whose checks the test answers. */
export function openHealthWorld({ maxParallelChecks = 32, random = (): number => 0.5 } = {}) {
  const clock = manualClock();
  const registry = new Registry();
  const { log, lines } = captureLog();
  let table = EMPTY_TABLE;
  const bad = new Set<string>();
  /** These accept connections and answer nothing: a check of them ends with its timeout. */
  const hung = new Set<string>();
  const failing = new Set<string>();
  const held: (() => void)[] = [];
  const asked: string[] = [];
  const state = { holds: false, changes: 0 };
  const health = new UpstreamHealth({
    clock,
    log,
    registry,
    maxParallelChecks,
    selection: { region: 'eu', load: { inFlight: () => 0 }, random },
    async check(upstream, question, timeoutMs, signal) {
      const path = typeof question === 'string' ? question : question.grpcService;
      asked.push(`${upstream.origin}${path} ${timeoutMs}`);
      if (failing.has(upstream.origin)) throw new Error('a defect');
      if (state.holds) {
        await new Promise<void>((resolve) => {
          held.push(resolve);
          signal?.addEventListener('abort', () => resolve());
        });
      }
      if (hung.has(upstream.origin)) {
        await new Promise<void>((resolve) => {
          clock.setTimer(timeoutMs, resolve);
          signal?.addEventListener('abort', () => resolve());
        });
        return { verdict: 'bad', detail: 'timeout' };
      }
      return { verdict: bad.has(upstream.origin) ? 'bad' : 'good', detail: 'status_200' };
    },
    onChange: () => void (state.changes += 1),
  });
  const use = (snapshot: Snapshot) => {
    const before = table.environments.get(snapshot.environment);
    table = withEnvironment(table, runAtOnce(compileEnvironment(snapshot, before)));
    health.reconcile(table);
  };
  const balancer = (id = 'svc_test') => {
    const service = table.environments.get('production')?.services.get(id);
    if (service === undefined) throw new Error('no such service');
    return health.of(service);
  };
  /** Advances the clock in steps, so that timers set by the result of a check run at the right time. */
  const pass = async (ms: number, stepMs = 50) => {
    for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
      clock.advance(stepMs);
      for (let turn = 0; turn < 4; turn += 1) await Promise.resolve();
    }
  };
  const names = (id?: string) => balancer(id).states.map(({ name }) => name);
  return {
    clock,
    registry,
    lines,
    health,
    use,
    balancer,
    pass,
    names,
    bad,
    hung,
    failing,
    asked,
    held,
    state,
  };
}

const token = createTokenSecret();

/** A snapshot of one service with these upstreams. */
export function snapshotOf(
  upstreams: readonly string[],
  change: {
    version?: number;
    timeout_ms?: number;
    check?: Partial<Snapshot['services'][number]['health_check']>;
  } = {},
): Snapshot {
  const { version = 1, timeout_ms = 5000 } = change;
  const snapshot = testSnapshot({ upstreams, timeout_ms }, token);
  return {
    ...snapshot,
    version,
    services: snapshot.services.map((service) => ({
      ...service,
      health_check: {
        type: 'http',
        grpc_service: '',
        path: '/healthz',
        interval_ms: INTERVAL_MS,
        timeout_ms: 2000,
        healthy_threshold: 2,
        unhealthy_threshold: 3,
        ...change.check,
      },
    })),
  };
}
