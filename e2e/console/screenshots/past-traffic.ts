import { createRecordBatcher } from '@gateway/data-plane/records/record-batcher';
import { linkNats } from '@gateway/data-plane/nats/nats-link';
import { createRecordPublisher } from '@gateway/data-plane/records/record-publisher';
import { systemClock as clock } from '@gateway/shared/clock';
import { createIdFactory } from '@gateway/shared/ids';
import { connectNats } from '@gateway/shared/messaging/connection';
import type { RequestRecord } from '@gateway/shared/records/record';
import { createLogger } from '@gateway/shared/telemetry/logger';

/** A route whose traffic is made up. */
export interface PastRoute {
  readonly name: string;
  /** The version that all of this traffic goes to. */
  readonly version?: string;
  readonly serviceId: string;
  readonly upstreamUrl: string;
  /** At noon; at midnight it is a third of that. */
  readonly requestsPerMinute: number;
  readonly medianMs: number;
  /** Of its requests, in percent. */
  readonly errorPercent: number;
}

const DATA_PLANE = 'data-plane-2';
const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const CONNECT_MS = 10_000;

const REFUSED: Partial<RequestRecord> = {
  status: 429,
  outcome: 'rejected',
  error_code: 'rate_limit_exceeded',
  error_stage: 'quota',
  attempts: [],
};

/** Sends records of the last day, as a data plane would have, always the same. @returns how many */
export async function sendPastTraffic(
  natsUrl: string,
  routes: readonly PastRoute[],
  nowMs: number,
): Promise<number> {
  const log = createLogger('screenshots', 'error');
  const signal = AbortSignal.timeout(CONNECT_MS);
  const connecting = connectNats({ url: natsUrl, name: DATA_PLANE, log, clock, signal });
  const lost = (): never => {
    throw new Error('a record is larger than NATS takes');
  };
  const publisher = createRecordPublisher({
    link: linkNats(connecting, log),
    dataPlaneId: DATA_PLANE,
    clock,
    random: Math.random,
    log,
    onSent: () => undefined,
    onFailure: () => undefined,
    onTooLarge: lost,
  });
  const connection = await connecting;
  const batcher = createRecordBatcher(clock, {
    emit: (batch) => publisher.send(batch),
    tooLarge: lost,
  });
  let sent = 0;
  for (const record of pastRecords(routes, nowMs)) {
    batcher.add(record);
    sent += 1;
  }
  batcher.flush();
  await publisher.settled();
  await connection.close();
  return sent;
}

function* pastRecords(routes: readonly PastRoute[], nowMs: number): Generator<RequestRecord> {
  const newId = createIdFactory(() => nowMs);
  const random = createRandom();
  for (let minute = DAY_MINUTES; minute > 0; minute -= 1) {
    const startMs = nowMs - minute * MINUTE_MS;
    // The day of the pictures has its noon in the middle of the chart.
    const busy = 0.65 - 0.35 * Math.cos((2 * Math.PI * (DAY_MINUTES - minute)) / DAY_MINUTES);
    for (const route of routes) {
      const count = Math.round(route.requestsPerMinute * busy * (0.7 + 0.6 * random()));
      for (let made = 0; made < count; made += 1) {
        const atMs = Math.floor(startMs + random() * MINUTE_MS);
        yield pastRecord(route, newId('req', atMs), atMs, random);
      }
    }
  }
}

function pastRecord(
  { name, version, serviceId, upstreamUrl, medianMs, errorPercent }: PastRoute,
  id: string,
  atMs: number,
  random: () => number,
): RequestRecord {
  const upstreamMs = medianMs * (0.6 + 0.8 * random() + (random() > 0.95 ? 3 * random() : 0));
  const upstream = `ups_${'0'.repeat(26)}`;
  const isError = random() * 100 < errorPercent;
  const isRefused = !isError && random() > 0.99;
  const status = isError ? 503 : 200;
  const attempt = { upstream, region: 'eu-west', started_ms: 0.4, duration_ms: upstreamMs };
  return {
    id,
    environment: 'production',
    route: name,
    route_version: version ?? null,
    service_id: serviceId,
    method: 'POST',
    path: `/v1/proxy/${name}`,
    status,
    outcome: isError ? 'upstream_error' : 'success',
    error_code: null,
    error_stage: null,
    received_at_ms: atMs,
    timing: {
      gateway_ms: 0.8,
      receiving_ms: 0,
      waiting_ms: 0,
      upstream_ms: upstreamMs,
      sending_ms: 0.1,
      total_ms: upstreamMs + 0.9,
    },
    waits: null,
    upstream: { id: upstream, url: upstreamUrl, region: 'eu-west' },
    retry_count: 0,
    attempts: [{ ...attempt, status }],
    rate_limit: null,
    idempotency: null,
    token_id: null,
    subject: null,
    claims: null,
    client_ip: '203.0.113.7',
    client_request_id: null,
    request_bytes: 212,
    response_bytes: 940,
    data_plane: DATA_PLANE,
    config_version: 1,
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    header_names: ['host', 'user-agent', 'authorization', 'content-type', 'content-length'],
    host: 'gateway.example.com',
    request_content_length: 212,
    kind: 'request',
    match: null,
    caller_id: null,
    would_refuse: null,
    units: null,
    upstream_request_id: null,
    parent_id: null,
    policies: null,
    grpc_status: null,
    ...(isRefused && REFUSED),
  };
}

/** The same numbers in every run, in [0, 1). */
function createRandom(): () => number {
  let state = 12_345;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
