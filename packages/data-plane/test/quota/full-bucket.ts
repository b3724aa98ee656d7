import { NAMES } from '@gateway/shared/messaging/names';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { jetstreamManager } from '@nats-io/jetstream';
import type { LeasedQuotaStore } from '../../src/quota/leased-quota-store.ts';
import type { QuotaDecision } from '../../src/quota/quota-store.ts';
import type { QuotaPolicy } from '../../src/routing-table/routing-table.ts';
import { openNatsStores, type NatsStores } from './nats-store.ts';

/** The size of a bucket that a few thousand callers fill. */
const MAX_BYTES = 512 * 1024;
/** More callers than one bucket has entries for. */
export const CALLERS = 1200;
const KNOWN = 100;
const WINDOW_MS = 60_000;
const PARALLEL = 250;
const START_MS = WINDOW_MS * 31_000_000 + 15_000;

/** What callers were answered. */
export interface Answers {
  readonly granted: number;
  readonly unavailable: number;
}

/** Data planes on a NATS with buckets so small that callers fill them. */
export async function openFullBucket(url: string, { replicas = 1, dataPlanes = 1 } = {}) {
  const clock = manualClock(START_MS);
  const nats: NatsStores = await openNatsStores(url, { replicas, maxQuotaBytes: MAX_BYTES });
  const { streams } = await jetstreamManager(nats.connection);
  const stores: LeasedQuotaStore[] = [];
  for (let node = 0; node < dataPlanes; node += 1) {
    stores.push(await nats.open({ clock, liveNodes: dataPlanes, maxCounters: 100_000 }));
  }
  const policyOf = (route: string, fields: Partial<QuotaPolicy>): QuotaPolicy => ({
    key: `production/${route}`,
    limit: 20,
    windowMs: WINDOW_MS,
    per: 'token',
    refuseWithoutStore: true,
    ...fields,
  });
  const take = async (policy: QuotaPolicy, subject: string, at: number) =>
    (stores[at % dataPlanes] as LeasedQuotaStore).take(policy, subject, clock.nowMs());
  /** Calls with one request of each of so many callers, spread over the data planes. */
  const send = async (policy: QuotaPolicy, callers: number): Promise<Answers> => {
    const answers: QuotaDecision[] = [];
    for (let first = 0; first < callers; first += PARALLEL) {
      const some = Array.from({ length: Math.min(PARALLEL, callers - first) }, (_, index) =>
        take(policy, `caller ${first + index}`, index),
      );
      answers.push(...(await Promise.all(some)));
    }
    return {
      granted: answers.filter(({ granted }) => granted).length,
      unavailable: answers.filter(({ unavailable }) => unavailable === true).length,
    };
  };
  return {
    clock,
    stores,
    send,
    token: (route: string) => policyOf(route, {}),
    open: (route: string) => policyOf(route, { per: 'ip', withoutCredentials: true }),
    /** Known subjects of a route, which have an entry. */
    known: KNOWN,
    nextWindow: () => clock.advance(WINDOW_MS),
    /** The used part of the bucket, as NATS counts it. */
    async fillPart(): Promise<number> {
      const { state } = await streams.info(`KV_${NAMES.shortQuotaBucket}`);
      return state.bytes / MAX_BYTES;
    },
    close: () => nats.close(),
  };
}
