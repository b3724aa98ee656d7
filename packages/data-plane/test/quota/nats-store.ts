import { connectNats } from '@gateway/shared/messaging/connection';
import { quotaSubject } from '@gateway/shared/messaging/names';
import { ensureTopology, type TopologyOptions } from '@gateway/shared/messaging/topology';
import { systemClock, type Clock } from '@gateway/shared/clock';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { pino } from 'pino';
import { fixedFleet } from './fixed-fleet.ts';
import { whenUp } from '../../src/nats/await-link.ts';
import { linkNats } from '../../src/nats/nats-link.ts';
import { KvQuotaLedger } from '../../src/quota/ledger/kv-ledger.ts';
import { LeasedQuotaStore } from '../../src/quota/leased-quota-store.ts';

const TOPOLOGY = { replicas: 1, maxRecordStreamBytes: 16 * 1024 * 1024 };
const LONG_WINDOW_MS = 86_400_000;

export interface NatsStores {
  readonly connection: NatsConnection;
  /** Opens the store of another data plane on the same NATS. */
  open(options: NatsStoreOptions): Promise<LeasedQuotaStore>;
  /** Resolves when NATS has stored a message that is sent now. */
  storeAnswers(): Promise<void>;
  close(): Promise<void>;
}

interface NatsStoreOptions {
  readonly clock: Clock;
  readonly maxCounters?: number;
  readonly liveNodes?: number;
  /** Whether it has an equal share. */
  readonly shares?: boolean;
}

let made = 0;

/**
 * Quota stores on a real NATS. Its buckets exist when this resolves.
 *
 * @param topology what differs from one replica and the sizes of production
 */
export async function openNatsStores(
  url: string,
  topology: Partial<TopologyOptions> = {},
): Promise<NatsStores> {
  const abort = new AbortController();
  const log = pino({ level: 'silent' });
  const options = { url, name: 'quotas', log, clock: systemClock, signal: abort.signal };
  const connection = await connectNats(options);
  await ensureTopology(connection, { ...TOPOLOGY, ...topology });
  const stored = jetstream(connection);
  return {
    connection,
    async storeAnswers() {
      await stored.publish(quotaSubject(LONG_WINDOW_MS, 'asked'));
    },
    async open({ clock, maxCounters = 1000, liveNodes = 1, shares = false }) {
      made += 1;
      const node = `${Date.now()}-${made}`;
      let leases = 0;
      const link = linkNats(Promise.resolve(connection), log);
      await whenUp(link, abort.signal);
      return new LeasedQuotaStore({
        leaseWaited: () => undefined,
        ledger: new KvQuotaLedger(link, systemClock, () => liveNodes),
        clock,
        log,
        maxCounters,
        fleet: fixedFleet({ nodes: liveNodes, node: 0, shares }),
        recall: () => Promise.resolve([]),
        serverTimeOffsetMs: () => 0,
        serverTimeErrorMs: () => 0,
        newLeaseId: () => `${node}.${(leases += 1)}`,
      });
    },
    async close() {
      abort.abort();
      await connection.close();
    },
  };
}
