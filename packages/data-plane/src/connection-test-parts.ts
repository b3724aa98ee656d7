import type { Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Registry } from 'prom-client';
import type { Config } from './config.ts';
import { createConnectionTestMetrics } from './connection-tests/connection-test-metrics.ts';
import { createTestService, type TestService } from './connection-tests/test-service.ts';
import type { CredentialOpener } from './routing-table/compile-credential.ts';
import type { TableHolder } from './routing-table/table-holder.ts';
import { createUpstreamCheck } from './upstream/health/check-upstream.ts';
import type { OpenUpstreams } from './upstream/open-upstreams.ts';

export interface ConnectionTestParts extends Pick<OpenUpstreams, 'openTest'> {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  /** Decrypts the key of a client certificate. */
  readonly opener: CredentialOpener;
  readonly table: TableHolder;
}

/** Builds what tests the connections to upstreams. */
export function openConnectionTests(parts: ConnectionTestParts): TestService {
  const { config, clock, log, registry, opener, table, openTest } = parts;
  return createTestService({
    dataPlaneId: config.DATA_PLANE_ID,
    keys: config.GATEWAY_MASTER_KEYS,
    opener,
    table: () => table.current,
    metrics: createConnectionTestMetrics(registry),
    clock,
    log,
    openCheck(observe, limitMs) {
      const pools = openTest(observe, limitMs);
      return { check: createUpstreamCheck(pools), close: () => pools.close() };
    },
  });
}
