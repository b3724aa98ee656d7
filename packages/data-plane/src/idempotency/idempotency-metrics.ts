import { Instruments } from '@gateway/shared/telemetry/instruments';
import type { Registry } from 'prom-client';
import { KEY_RESULTS, type KeyResult } from '../request/key-results.ts';

/**
 * How a claim ended: what the key is afterwards. `lost`: the lease had expired and another request holds the key. `uncommitted`: the
 * store did not accept the outcome in time, so the outcome counts as unknown once the lease expires.
 */
const CLAIM_ENDS = [
  'stored',
  'stored_without_body',
  'repeatable',
  'freed',
  'unknown',
  'lost',
  'uncommitted',
] as const;
export type ClaimEnd = (typeof CLAIM_ENDS)[number];

/** The counters of idempotency keys. */
export interface IdempotencyMetrics {
  result(result: KeyResult): void;
  ended(end: ClaimEnd): void;
  /** Bytes of responses that were not stored: too large, or too many at once. */
  dropped(bytes: number): void;
  /** A duplicate was refused because too many duplicates wait in this process. */
  waiterRefused(): void;
  /** A claim that may have been written was neither found nor removed. */
  claimAbandoned(): void;
}

/** The values of the gauges, read at each scrape. */
export interface IdempotencyGauges {
  readonly waiting: () => number;
  readonly held: () => number;
  readonly hasRoom: () => boolean;
}

/** Registers the metrics of idempotency keys. */
export function createIdempotencyMetrics(
  registry: Registry,
  gauges: IdempotencyGauges,
): IdempotencyMetrics {
  const instruments = new Instruments(registry);
  const results = instruments.counterBy(
    'gateway_idempotency_requests_total',
    'Requests with an idempotency key, by result',
    'result',
    KEY_RESULTS,
  );
  const ends = instruments.counterBy(
    'gateway_idempotency_claims_ended_total',
    'Claims of idempotency keys that have ended, by outcome',
    'end',
    CLAIM_ENDS,
  );
  const droppedBytes = instruments.counter(
    'gateway_idempotency_dropped_bytes_total',
    'Bytes of responses that were not stored and cannot be replayed',
  );
  const refused = instruments.counter(
    'gateway_idempotency_waiters_refused_total',
    'Duplicates that were refused because too many duplicates wait',
  );
  const abandoned = instruments.counter(
    'gateway_idempotency_claims_abandoned_total',
    'Claims of requests that were never sent and that could not be removed from the store',
  );
  instruments.observeGauge(
    'gateway_idempotency_waiting',
    'Duplicates that wait for the first request with their key',
    gauges.waiting,
  );
  instruments.observeGauge(
    'gateway_idempotency_claims_held',
    'Idempotency keys that this data plane holds a claim of',
    gauges.held,
  );
  instruments.observeGauge(
    'gateway_idempotency_has_room',
    '0 while the bucket of idempotency keys is so full that new keys are refused',
    () => (gauges.hasRoom() ? 1 : 0),
  );
  return {
    result: (result) => results.inc({ result }),
    ended: (end) => ends.inc({ end }),
    dropped: (bytes) => droppedBytes.inc(bytes),
    waiterRefused: () => refused.inc(),
    claimAbandoned: () => abandoned.inc(),
  };
}
