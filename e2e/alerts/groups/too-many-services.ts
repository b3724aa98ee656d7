import { masterKeysVariable } from '@gateway/shared/config/master-keys';
import { configLogSubject } from '@gateway/shared/messaging/names';
import { sealLogEntry } from '@gateway/shared/snapshot/signed-log-entry';
import { deltaOf } from '@gateway/shared/test/config-publisher';
import { DEFAULT_LIMITS } from '@gateway/shared/test/snapshot';
import { connect } from '@nats-io/transport-node';
import { metric } from '../../harness/figures.ts';
import type { Condition } from '../harness/condition.ts';
import { dataPlane } from '../harness/open-world.ts';
import type { ConfigurationWorld } from './configuration-world.ts';

const ENVIRONMENT = 'production';
const VERSION = `gateway_config_version{environment="${ENVIRONMENT}"}`;
/** Together above the number whose health fits into a heartbeat. One change has to fit into a message of NATS. */
const CHANGES = 7;
const SERVICES_PER_CHANGE = 1000;

/**
 * Published as a control plane publishes it, but not made with the API: seven thousand calls would take a minute. The
 * control plane is stopped, because it would publish what it knows again.
 */
export const tooManyServices: Condition<ConfigurationWorld> = {
  condition: 'the configuration has 7000 services, and no control plane runs',
  alerts: ['GatewayHealthNotReported', 'GatewayTargetNotScraped'],
  resolved: [],
  async cause(world) {
    const { gateway, restarts } = world;
    await restarts.stopControlPlane();
    const keys = masterKeysVariable.parse(gateway.stack.masterKeys);
    const version = await metric(dataPlane(world).adminUrl, VERSION);
    const connection = await connect({ servers: gateway.stack.natsUrl });
    for (let change = 0; change < CHANGES; change += 1) {
      const put = Array.from({ length: SERVICES_PER_CHANGE }, (_, index) =>
        serviceAt(gateway.upstream.url, change * SERVICES_PER_CHANGE + index),
      );
      const delta = { ...deltaOf(ENVIRONMENT, version + change), services: { put, remove: [] } };
      const entry = sealLogEntry(delta, keys);
      connection.publish(configLogSubject(ENVIRONMENT), entry);
    }
    await connection.flush();
    await connection.close();
    return () => Promise.resolve();
  },
};

function serviceAt(url: string, index: number) {
  const id = `svc_${String(index).padStart(26, '0')}`;
  return {
    id,
    name: `service-${index}`,
    revision: 1,
    upstreams: [{ id: `ups_${String(index).padStart(26, '0')}`, url, region: null, weight: 1 }],
    health_check: {
      type: 'http' as const,
      grpc_service: '',
      path: '/healthz',
      interval_ms: 60_000,
      timeout_ms: 2000,
      healthy_threshold: 2,
      unhealthy_threshold: 3,
    },
    protocol: 'http1' as const,
    websocket_protocol: 'http1' as const,
    send_via: false,
    limits: DEFAULT_LIMITS,
  };
}
