import { createIdFactory } from '@gateway/shared/ids';
import type { RequestRecord } from '@gateway/shared/records/record';
import { requestRecord, timing } from '@gateway/shared/test/request-record';

const ROUTES = 40;
const TOKENS = 1000;
const UPSTREAMS = 8;
/** Percentage of requests to `production`; the others go to `development`. */
const PRODUCTION_PERCENT = 90;
/** Percentage of requests with status 200; the failures below share the rest equally. */
const SUCCESS_PERCENT = 96;
/** Records that differ in more than id and time. They are built once, so that the load costs little. */
const VARIANTS = 2048;

const FAILURES: readonly Partial<RequestRecord>[] = [
  { status: 404 },
  { status: 503, outcome: 'upstream_error' },
  { status: 504, outcome: 'timeout', error_code: 'upstream_timeout', error_stage: 'forward' },
  {
    status: 429,
    outcome: 'rejected',
    error_code: 'rate_limit_exceeded',
    error_stage: 'quota',
    attempts: [],
  },
];

/** Those of a usual SDK. */
const HEADER_NAMES =
  'host user-agent accept accept-encoding authorization content-type content-length connection'.split(
    ' ',
  );

/** A pseudo-random generator that yields the same numbers in every run, so that runs are comparable. */
function createPick(): (below: number) => number {
  let state = 12_345;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * Creates records like those of usual calls: one of 40 routes, one of 1000 tokens, one attempt at one of 8 upstreams,
 * status 200 for 96 % of them.
 */
export function createRecordMaker(
  dataPlane: string,
  nowMs: () => number,
): { variants: readonly RequestRecord[]; make(): RequestRecord } {
  const newId = createIdFactory(nowMs);
  const pick = createPick();
  const tokens = Array.from({ length: TOKENS }, () => newId('tok'));
  const upstreams = Array.from({ length: UPSTREAMS }, () => newId('ups'));
  const service = newId('svc');

  function variant(): RequestRecord {
    const route = `orders-${pick(ROUTES)}`;
    const upstream = upstreams[pick(UPSTREAMS)] ?? '';
    const upstreamMs = 5 + pick(400) / 10;
    const failure = pick(100) < SUCCESS_PERCENT ? {} : FAILURES[pick(FAILURES.length)];
    const attempt = { upstream, region: 'eu-west', started_ms: 0.41, duration_ms: upstreamMs };
    const url = 'https://orders.internal.example:8443';
    return requestRecord(nowMs(), {
      environment: pick(100) < PRODUCTION_PERCENT ? 'production' : 'development',
      route,
      service_id: service,
      path: `/v1/proxy/${route}/orders/${100_000 + pick(900_000)}`,
      timing: timing({ gateway_ms: 0.87, upstream_ms: upstreamMs, sending_ms: 0.03 }),
      upstream: { id: upstream, url, region: 'eu-west' },
      attempts: [{ ...attempt, status: failure?.status ?? 200 }],
      rate_limit: { limit: 60_000, remaining: pick(60_000), reset_seconds: pick(60) },
      token_id: tokens[pick(TOKENS)] ?? null,
      client_ip: `203.0.113.${pick(250)}`,
      request_bytes: 80 + pick(2000),
      response_bytes: 150 + pick(8000),
      data_plane: dataPlane,
      trace_id: `0af7651916cd43dd8448eb211c${String(100_000 + pick(900_000))}`,
      header_names: HEADER_NAMES,
      ...failure,
    });
  }

  const variants = Array.from({ length: VARIANTS }, variant);
  let next = 0;
  return {
    variants,
    make() {
      const made = variants[next] ?? variant();
      next = (next + 1) % VARIANTS;
      return { ...made, id: newId('req'), received_at_ms: nowMs() };
    },
  };
}
