import type { Clock } from '@gateway/shared/clock';
import type { createIdFactory } from '@gateway/shared/ids';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { hashTokenSecretBytes } from '@gateway/shared/tokens/secret';
import { directUrl, type Config } from './config.ts';
import { ownOrigin } from './changes/store/change-origin.ts';
import { routesOnReservedHosts } from './configuration/store/routes-on-reserved-hosts.ts';
import { ensureAdminToken } from './tokens/store/admin-token.ts';
import type { Database } from './store/database.ts';
import { ensureEnvironments } from './environments/store/environments.ts';
import type { PartitionMetrics } from './partitions/partition-metrics.ts';
import { keepPartitionsOrLog } from './partitions/maintain-partitions.ts';
import { checkTimeouts, requireSession } from './store/servers/pooler.ts';
import { migrate } from './store/migrate.ts';
import { hasTokens } from './access/store/find-tokens.ts';

export interface BootstrapDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly newId: ReturnType<typeof createIdFactory>;
  readonly log: Logger;
  readonly partitionMetrics?: PartitionMetrics;
}

/**
 * Migrates the database and creates what an operator needs for the first call: the environments `production` and
 * `development`, the default environment, and the admin token. Runs at every start; several replicas may run it at the
 * same time.
 */
export async function bootstrap(config: Config, deps: BootstrapDeps): Promise<void> {
  const { db, clock, log } = deps;
  const direct = config.DATABASE_DIRECT_URL === undefined ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
  await checkTimeouts(db, log);
  await requireSession(directUrl(config), direct, clock);
  await migrate(directUrl(config));
  // Must come before the first audit event and record: rows without a partition go to the DEFAULT partition.
  const { partitionMetrics: metrics } = deps;
  const partitions = { db, clock, log, ...(metrics && { metrics }) };
  await keepPartitionsOrLog(partitions, new AbortController().signal);
  const names = new Set(['production', 'development', config.DEFAULT_ENVIRONMENT]);
  const origin = ownOrigin(deps.newId);
  await ensureEnvironments(db, [...names], origin);
  for (const use of await routesOnReservedHosts(db, config.RESERVED_HOSTS)) {
    const { route, environment, host } = use;
    log.warn(
      { route, environment, host },
      'route names a host of RESERVED_HOSTS and does not get it',
    );
  }
  if (config.GATEWAY_ADMIN_TOKEN === undefined) {
    if (!(await hasTokens(db))) {
      log.warn('no token exists: nobody can call the management API; set GATEWAY_ADMIN_TOKEN');
    }
    return;
  }
  const sha256 = hashTokenSecretBytes(config.GATEWAY_ADMIN_TOKEN);
  const admin = { id: deps.newId('tok'), sha256, now: new Date(clock.nowMs()) };
  const state = await ensureAdminToken(db, admin, origin);
  switch (state) {
    case 'created':
    case 'replaced':
      log.info({ state }, 'admin token set from GATEWAY_ADMIN_TOKEN');
      break;
    case 'expired':
      log.warn('GATEWAY_ADMIN_TOKEN has expired; set another one');
      break;
    case 'revoked':
      log.warn('GATEWAY_ADMIN_TOKEN is revoked; set another one');
      break;
    case 'outdated':
      log.warn(
        'GATEWAY_ADMIN_TOKEN was replaced by a newer secret; set it to the newest one, or to a new one',
      );
      break;
    case 'foreign':
      log.warn(
        'GATEWAY_ADMIN_TOKEN is or was the secret of another token; set a secret of its own',
      );
      break;
    case 'kept':
  }
}
