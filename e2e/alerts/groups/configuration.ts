import { randomBytes } from 'node:crypto';
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
  conditions: [keySetMissing, partitionDropped, newKeyMissing, oldKeyMissing, tooManyServices],
};
