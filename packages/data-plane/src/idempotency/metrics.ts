import { Counter, Gauge, type Registry } from 'prom-client';

/** What a key did to its request. `forwarded`: it ran though nobody knows how an earlier run ended. */
export type KeyResult =
  | 'first'
  | 'forwarded'
  | 'replayed'
  | 'conflict'
  | 'in_progress'
  | 'outcome_unknown'
  | 'not_replayable'
  | 'unavailable';

/**
 * How a claim ended. `lost`: somebody else holds the key, as its lease had ended. `uncommitted`: the
 * store did not take the end in time, so the outcome counts as unknown once the lease ends.
 */
export type ClaimEnd =
  'stored' | 'stored_without_body' | 'freed' | 'unknown' | 'lost' | 'uncommitted';

export interface IdempotencyMetrics {
  result(result: KeyResult): void;
  ended(end: ClaimEnd): void;
  /** Bytes of answers that were too large, or too many at once, to be kept. */
  dropped(bytes: number): void;
  /** A request was turned away as too many of this process wait for others already. */
  waiterRefused(): void;
  /** A claim that may have been written was not found again, nor taken back. */
  claimAbandoned(): void;
}

export interface IdempotencyGauges {
  readonly waiting: () => number;
  readonly held: () => number;
  readonly hasRoom: () => boolean;
}

export function createIdempotencyMetrics(
  registry: Registry,
  gauges: IdempotencyGauges,
): IdempotencyMetrics {
  const registers = [registry];
  const results = new Counter({
    name: 'gateway_idempotency_requests_total',
    help: 'Requests with an idempotency key, by what the key did to them.',
    labelNames: ['result'],
    registers,
  });
  const ends = new Counter({
    name: 'gateway_idempotency_claims_ended_total',
    help: 'Claims of idempotency keys, by how they ended.',
    labelNames: ['end'],
    registers,
  });
  const droppedBytes = new Counter({
    name: 'gateway_idempotency_dropped_bytes_total',
    help: 'Bytes of answers that were not kept, so that they cannot be replayed.',
    registers,
  });
  const refused = new Counter({
    name: 'gateway_idempotency_waiters_refused_total',
    help: 'Duplicates that were turned away as too many wait already.',
    registers,
  });
  const abandoned = new Counter({
    name: 'gateway_idempotency_claims_abandoned_total',
    help: 'Claims that may stand in the store though nothing was sent, and could not be taken back.',
    registers,
  });
  new Gauge({
    name: 'gateway_idempotency_waiting',
    help: 'Duplicates that wait for the first request with their key.',
    registers,
    collect() {
      this.set(gauges.waiting());
    },
  });
  new Gauge({
    name: 'gateway_idempotency_claims_held',
    help: 'Idempotency keys that this data plane holds a claim of.',
    registers,
    collect() {
      this.set(gauges.held());
    },
  });
  new Gauge({
    name: 'gateway_idempotency_has_room',
    help: '0 while the bucket of idempotency keys is so full that new keys are refused.',
    registers,
    collect() {
      this.set(gauges.hasRoom() ? 1 : 0);
    },
  });
  return {
    result: (result) => results.inc({ result }),
    ended: (end) => ends.inc({ end }),
    dropped: (bytes) => droppedBytes.inc(bytes),
    waiterRefused: () => refused.inc(),
    claimAbandoned: () => abandoned.inc(),
  };
}
