import { randomBytes } from 'node:crypto';
import { openDatabase } from '@gateway/control-plane/store/database';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { startGateway } from '../../harness/gateway.ts';
import type { AlertGroup, Condition } from '../harness/condition.ts';
import { openWorld } from '../harness/open-world.ts';
import { restartsOf } from '../harness/restart-plane.ts';
import type { ConfigurationWorld } from './configuration-world.ts';
import { partitionDropped } from './partition-dropped.ts';
import { tooManyServices } from './too-many-services.ts';

const UNREACHABLE = 'http://127.0.0.1:1';

const keys = (GATEWAY_MASTER_KEYS: string) => ({ env: { GATEWAY_MASTER_KEYS } });

const keySetMissing: Condition<ConfigurationWorld> = {
  condition: 'the key set of a token issuer cannot be fetched',
  alerts: ['GatewayTokenIssuerWithoutKeys'],
  resolved: ['GatewayTokenIssuerWithoutKeys'],
  async cause({ gateway }) {
    const auth = { type: 'jwt', issuer: 'https://issuer', audience: 'a', jwks_url: UNREACHABLE };
    const { id } = await gateway.route({ name: 'with-jwt', auth });
    return () => gateway.admin.delete(`/v1/routes/${id}`);
  },
};

const newKeyMissing: Condition<ConfigurationWorld> = {
  condition: 'a control plane signs with a master key that a data plane lacks',
  alerts: ['GatewayConfigurationRefused', 'GatewayDataPlaneBehind'],
  resolved: ['GatewayDataPlaneBehind'],
  async cause({ gateway, restarts, bothKeys }) {
    await restarts.controlPlane(keys(bothKeys));
    await gateway.service();
    return () => restarts.dataPlane(0, keys(bothKeys));
  },
};

const oldKeyMissing: Condition<ConfigurationWorld> = {
  condition: 'a data plane lacks the master key of a credential',
  alerts: ['GatewayCredentialsCannotBeDecrypted'],
  resolved: ['GatewayCredentialsCannotBeDecrypted'],
  async cause({ restarts, newKey, bothKeys }) {
    await restarts.dataPlane(0, keys(newKey));
    return () => restarts.dataPlane(0, keys(bothKeys));
  },
};

/** The first publication of a control plane compiles every row again. */
const routeOfLaterRelease: Condition<ConfigurationWorld> = {
  condition: 'a route has settings that the data planes do not know',
  alerts: ['GatewayConfigurationUnusable'],
  resolved: ['GatewayConfigurationUnusable'],
  async cause({ gateway, restarts }) {
    const { id, auth } = await gateway.route({ name: 'later' });
    const store = async (value: unknown) => {
      const log = createLogger('test', 'silent');
      const database = openDatabase({ url: gateway.stack.databaseUrl, log, maxConnections: 1 });
      const row = { auth: JSON.stringify(value) as never };
      await database.db.updateTable('routes').set(row).where('id', '=', id).execute();
      await database.close();
    };
    await store({ type: 'of_a_later_release' });
    await restarts.controlPlane();
    return async () => {
      await store(auth);
      await gateway.admin.delete(`/v1/routes/${id}`);
    };
  },
};

/** A gateway with a service whose credential is encrypted with the first master key. */
export const configuration: AlertGroup<ConfigurationWorld> = {
  name: 'configuration',
  async open() {
    const gateway = await startGateway();
    await gateway.service({ credential: { type: 'bearer', token: 'of-the-first-key' } });
    const newKey = `k2:${randomBytes(32).toString('base64')}`;
    return {
      ...(await openWorld(gateway)),
      restarts: restartsOf(gateway),
      newKey,
      bothKeys: `${newKey},${gateway.stack.masterKeys}`,
    };
  },
  conditions: [
    keySetMissing,
    partitionDropped,
    routeOfLaterRelease,
    newKeyMissing,
    oldKeyMissing,
    tooManyServices,
  ],
};
