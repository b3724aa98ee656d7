import { eventually } from '@gateway/shared/test/eventually';
import { startTcpRelay, type TcpRelay } from '../../faults/harness/relay/tcp-relay.ts';
import { metric } from '../../harness/figures.ts';
import { startGateway } from '../../harness/gateway.ts';
import type { AlertGroup, Condition } from '../harness/condition.ts';
import { keepSending, openWorld, type GatewayWorld } from '../harness/open-world.ts';

/** Little memory and disk for records, so that an outage of seconds loses some. */
const FEW_RECORDS = {
  MAX_RECORD_MEMORY_BYTES: String(64 * 1024),
  MAX_RECORD_SPOOL_BYTES: String(64 * 1024),
};
const NATS_AWAY_MS = 150;
const CLAIMS = 3;
const PENDING = 'gateway_control_plane_outbox_pending';

interface StoreWorld extends GatewayWorld {
  /** Between the data plane and NATS. */
  readonly relay: TcpRelay;
}

const postgresStopped: Condition<StoreWorld> = {
  condition: 'Postgres is stopped',
  alerts: ['GatewayProcessNotReady'],
  resolved: ['GatewayProcessNotReady'],
  async cause({ gateway: { stack, controlPlane } }) {
    // A change that is not published yet would stay so, which is another alert.
    await eventually(async () => {
      if ((await metric(controlPlane.adminUrl, PENDING)) > 0) throw new Error('not published yet');
    });
    await stack.postgres?.stop();
    return () => stack.restartPostgres();
  },
};

const natsFarAway: Condition<StoreWorld> = {
  condition: 'NATS is 150 ms away, each way, from callers with a quota for each address',
  alerts: ['GatewayRequestsWaitForLeases'],
  resolved: [],
  cause({ gateway: { admin }, relay }) {
    relay.slow(NATS_AWAY_MS);
    let callers = 0;
    const end = keepSending(() => {
      callers += 1;
      const headers = { 'x-forwarded-for': `10.0.${callers >> 8}.${callers & 255}` };
      return admin.proxy('by-address', { method: 'GET', headers });
    });
    return async () => {
      await end();
      await relay.heal();
    };
  },
};

const natsStopped: Condition<StoreWorld> = {
  condition: 'NATS is stopped while requests are in flight',
  alerts: [
    'GatewayQuotasWithoutLeases',
    'GatewayHeartbeatsFail',
    'GatewayChangesNotPublished',
    'GatewayPublishingFails',
    'GatewayRecordsWaitOnDisk',
    'GatewayRecordsDropped',
    'GatewayIdempotencyOutcomeLost',
    'GatewayClaimsNotTakenBack',
  ],
  resolved: [
    'GatewayQuotasWithoutLeases',
    'GatewayChangesNotPublished',
    'GatewayRecordsWaitOnDisk',
  ],
  async cause({ gateway, relay }) {
    const { admin, stack, upstream, controlPlane } = gateway;
    const keyed = (route: string, key: string) =>
      admin.proxy(route, { headers: { 'idempotency-key': key } });
    const sentBefore = upstream.seen.length;
    const inFlight = keyed('slow', 'in-flight');
    await eventually(() => {
      if (upstream.seen.length === sentBefore) throw new Error('the request is not sent');
    });
    // The claims of these are sent, and no answer arrives.
    relay.blackHole();
    await Promise.all(Array.from({ length: CLAIMS }, (_, at) => keyed('healthy', `claim-${at}`)));
    await stack.nats.stop();
    await relay.refuse();
    await inFlight;
    await admin.at(controlPlane.baseUrl).create('/v1/services', {
      name: 'made-without-nats',
      environment: 'production',
      url: upstream.url,
    });
    const end = keepSending(() => admin.proxy('healthy', { method: 'GET' }));
    return async () => {
      await end();
      await stack.restartNats();
      await relay.heal();
    };
  },
};

/** A gateway whose Postgres and NATS can be stopped. */
export const outages: AlertGroup<StoreWorld> = {
  name: 'outages',
  async open() {
    const links: TcpRelay[] = [];
    const gateway = await startGateway({
      ownPostgres: true,
      async dataPlaneStart({ nats }) {
        const link = await startTcpRelay(nats.port);
        links.push(link);
        return { env: { ...FEW_RECORDS, NATS_URL: `nats://127.0.0.1:${link.port}` } };
      },
    });
    const [relay] = links;
    if (relay === undefined) throw new Error('no data plane was started');
    await gateway.route({ name: 'slow', upstreamPath: '/slow/6000' });
    await gateway.route({
      name: 'by-address',
      rate_limit: { limit: 100, window_seconds: 3600, per: 'ip' },
    });
    return { ...(await openWorld(gateway, [], [() => relay.close()])), relay };
  },
  conditions: [postgresStopped, natsFarAway, natsStopped],
};
