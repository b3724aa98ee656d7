import { randomBytes } from 'node:crypto';
import { closedPort, startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';
import { startGateway } from '../../harness/gateway.ts';
import type { AlertGroup, Condition, End } from '../harness/condition.ts';
import { allOf, keepSending, openWorld, type GatewayWorld } from '../harness/open-world.ts';

const BOUNDS = {
  IDEMPOTENCY_MAX_BYTES: String(1024 * 1024),
  MAX_IDEMPOTENT_WAITERS: '1',
  MAX_IN_FLIGHT_REQUESTS: '16',
  MAX_PARALLEL_HEALTH_CHECKS: '1',
};
/** More than the route's share of `MAX_IN_FLIGHT_REQUESTS`. */
const CALLERS = 14;
const SILENT_SERVICES = 5;
const BODY_BYTES = 32 * 1024;
const LARGE_RESPONSES = 40;
const ROUTES_WITH_KEYS = [1, 2, 3, 4];

/** Longer than the objective of a route without one of its own. */
const LATE_MS = 2700;

const nothingToEnd: End = () => Promise.resolve();

const objectivesMissed: Condition<GatewayWorld> = {
  condition: 'the upstream of a route is down, and that of another one is late',
  alerts: [
    'GatewayErrorBudgetBurnsFast',
    'GatewayErrorBudgetBurns',
    'GatewayLatencyBudgetBurnsFast',
    'GatewayLatencyBudgetBurns',
    'GatewayServiceWithoutHealthyUpstream',
  ],
  resolved: ['GatewayServiceWithoutHealthyUpstream'],
  async cause({ gateway }) {
    const { admin } = gateway;
    const down = await gateway.service({
      url: `http://127.0.0.1:${await closedPort()}`,
      health_check: { interval_ms: 500, timeout_ms: 500 },
    });
    const failing = await gateway.route({ name: 'failing', service_id: down.id, retry_count: 0 });
    await gateway.route({ name: 'late', upstreamPath: `/slow/${LATE_MS}` });
    await gateway.settled();
    const sending = allOf(
      keepSending(() => admin.proxy('failing')),
      ...Array.from({ length: 3 }, () => keepSending(() => admin.proxy('late'))),
    );
    return async () => {
      await sending();
      await admin.delete(`/v1/routes/${failing.id}`);
      await admin.delete(`/v1/services/${down.id}`);
    };
  },
};

const duplicatesWait: Condition<GatewayWorld> = {
  condition: 'three requests with one key wait for a slow one',
  alerts: ['GatewayDuplicatesRefused'],
  resolved: [],
  async cause({ gateway: { admin } }) {
    const headers = { 'idempotency-key': 'many-times' };
    await Promise.all(Array.from({ length: 4 }, () => admin.proxy('slow', { headers })));
    return nothingToEnd;
  },
};

const serviceAtItsLimit: Condition<GatewayWorld> = {
  condition: 'a service with one slot gets three requests at once',
  alerts: ['GatewayServiceOverloaded'],
  resolved: [],
  async cause({ gateway: { admin } }) {
    await Promise.all(Array.from({ length: 3 }, () => admin.proxy('one-slot')));
    return nothingToEnd;
  },
};

const dataPlaneAtItsLimit: Condition<GatewayWorld> = {
  condition: 'a data plane gets more requests of a route than its slots',
  alerts: ['GatewayRequestsShed'],
  resolved: [],
  async cause({ gateway: { admin } }) {
    await Promise.all(Array.from({ length: CALLERS }, () => admin.proxy('slow')));
    return nothingToEnd;
  },
};

const silentUpstreams: Condition<GatewayWorld> = {
  condition: 'five upstreams do not answer their health checks',
  alerts: ['GatewayHealthChecksLate'],
  resolved: ['GatewayHealthChecksLate'],
  async cause({ gateway }) {
    const silent = await startRawUpstream(() => undefined);
    const checks = { interval_ms: 1000, timeout_ms: 1000 };
    const services = await Promise.all(
      Array.from({ length: SILENT_SERVICES }, () =>
        gateway.service({ url: silent.url, health_check: checks }),
      ),
    );
    return async () => {
      for (const { id } of services) await gateway.admin.delete(`/v1/services/${id}`);
      await silent.close();
    };
  },
};

const bucketFull: Condition<GatewayWorld> = {
  condition: 'large responses of several routes fill the bucket of idempotency keys',
  alerts: ['GatewayIdempotencyKeysRefused', 'GatewayBucketFilling', 'GatewayBucketEntriesRefused'],
  resolved: [],
  async cause({ gateway }) {
    const large = await startUpstream((_seen, response) => {
      response.end(randomBytes(BODY_BYTES));
    });
    const { id } = await gateway.service({ url: large.url });
    const names = ROUTES_WITH_KEYS.map((number) => `large-${number}`);
    for (const name of names) await gateway.route({ name, service_id: id });
    await gateway.settled();
    // One route alone gets no new keys before the bucket is full.
    for (const name of names) {
      for (let count = 0; count < LARGE_RESPONSES; count += 1) {
        const headers = { 'idempotency-key': `large-${count}` };
        await gateway.admin.proxy(name, { headers });
      }
    }
    // A data plane reads how full the bucket is when a key is used.
    const end = keepSending(() =>
      gateway.admin.proxy('healthy', { headers: { 'idempotency-key': 'large-0' } }),
    );
    return allOf(end, () => large.close());
  },
};

/** A gateway whose bounds are so low that a few requests reach them. */
export const bounds: AlertGroup<GatewayWorld> = {
  name: 'bounds',
  async open() {
    const gateway = await startGateway({ env: BOUNDS });
    const { url } = gateway.upstream;
    // As many as the data plane, so that its own limit is reached.
    const slow = await gateway.service({
      url: `${url}/slow/1500`,
      limits: { max_in_flight: Number(BOUNDS.MAX_IN_FLIGHT_REQUESTS) },
    });
    await gateway.route({ name: 'slow', service_id: slow.id });
    const oneSlot = await gateway.service({
      url: `${url}/slow/500`,
      limits: { max_in_flight: 1 },
    });
    await gateway.route({ name: 'one-slot', service_id: oneSlot.id });
    return openWorld(gateway);
  },
  conditions: [
    objectivesMissed,
    duplicatesWait,
    serviceAtItsLimit,
    dataPlaneAtItsLimit,
    silentUpstreams,
    bucketFull,
  ],
};
