import { systemClock } from '@gateway/shared/clock';
import { connectNats } from '@gateway/shared/messaging/connection';
import { ensureTopology, type TopologyOptions } from '@gateway/shared/messaging/topology';
import { createLogger } from '@gateway/shared/telemetry/logger';
import type { NatsConnection } from '@nats-io/nats-core';

const TOPOLOGY = { replicas: 1, maxRecordStreamBytes: 256 * 1024 * 1024 };

export interface TestNats {
  readonly connection: NatsConnection;
  /** Creates what is missing of the streams. */
  readonly prepare: (options?: Partial<TopologyOptions>) => Promise<void>;
  close(): Promise<void>;
}

/** Connects to the NATS server of the test run, or to another one, and creates the streams. */
export async function openTestNats(url = process.env['TEST_NATS_URL']): Promise<TestNats> {
  if (url === undefined) throw new Error('TEST_NATS_URL is set by the global setup of jest');
  const connection = await connectNats({
    url,
    name: 'test',
    log: createLogger('test', 'silent'),
    clock: systemClock,
    signal: AbortSignal.timeout(10_000),
  });
  const prepare = (options: Partial<TopologyOptions> = {}) =>
    ensureTopology(connection, { ...TOPOLOGY, ...options });
  await prepare();
  return { connection, prepare, close: () => connection.close() };
}
