import { REFUSAL_REASONS, type RefusalReason } from '@gateway/http/http1/server/options';
import { Instruments } from '@gateway/shared/telemetry/instruments';
import { notAcceptedCounter } from './not-accepted-counter.ts';
import type { Registry } from 'prom-client';
import { RequestRows } from './request-rows.ts';

export interface TrafficMetrics {
  readonly requests: RequestRows;
  /** Shows the number of open client connections. */
  observeConnections(open: () => number): void;
  /** Counts a malformed request, by the parser's reason. */
  malformed(reason: RefusalReason): void;
  /** Counts a client connection that the gateway ended for an internal error or a breach of HTTP/2. */
  connectionEnded(reason: string): void;
  /** Counts a 103 that its caller did not get. */
  hintsDropped(): void;
  /** Count each client connection when it is accepted, and when it has closed. */
  readonly connections: {
    readonly notAccepted: () => void;
    readonly accepted: () => void;
    readonly answered: () => void;
    readonly unanswered: (reason: string) => void;
  };
}

export interface TrafficGauges {
  readonly inFlight: () => number;
  /** Slots in use, by what they are for. */
  readonly slots: Readonly<Record<string, () => number>>;
  /** Every reason for which a client connection may end without a response. */
  readonly unansweredReasons: readonly string[];
  readonly connectionEndReasons: readonly string[];
  /** Counters that full stores have dropped, by the store's name. */
  readonly dropped: Readonly<Record<string, () => number>>;
}

/** Metrics of connections and requests. A request changes a few numbers in memory; text is built at a scrape. */
export function createTrafficMetrics(registry: Registry, gauges: TrafficGauges): TrafficMetrics {
  const instruments = new Instruments(registry);
  const malformed = instruments.counterBy(
    'gateway_malformed_requests_total',
    'Requests that were not well-formed HTTP',
    'reason',
    REFUSAL_REASONS,
  );
  const accepted = instruments.counter(
    'gateway_connections_accepted_total',
    'Client connections that were accepted, those that were refused above a limit included',
  );
  const answered = instruments.counter(
    'gateway_connections_answered_total',
    'Client connections that have closed after at least one response',
  );
  const unanswered = instruments.counterBy(
    'gateway_connections_unanswered_total',
    'Client connections that have closed without a response, by reason',
    'reason',
    gauges.unansweredReasons,
  );
  // The error codes of Node, which are reasons too, have no series before the first event, because no list has them.
  const ended = instruments.counterBy(
    'gateway_connections_ended_total',
    'Client connections that the gateway ended for an internal error, a body that nothing reads or a breach of HTTP/2, by reason',
    'reason',
    gauges.connectionEndReasons,
  );
  const hintsDropped = instruments.counter(
    'gateway_early_hints_dropped_total',
    'Early Hints of upstreams that were not passed on because the caller does not read fast enough',
  );
  instruments.observeGauge('gateway_requests_in_flight', 'Requests in flight', gauges.inFlight);
  instruments.observeGauges(
    'gateway_slots_in_use',
    'Requests that hold a slot, by the limit that bounds them',
    ['slots'],
    () => Object.entries(gauges.slots).map(([slots, count]) => [{ slots }, count()] as const),
  );
  instruments.observeCounters(
    'gateway_dropped_counters_total',
    'Counters that were dropped because a store was full, so their usage was forgotten',
    ['store'],
    () => Object.entries(gauges.dropped).map(([store, count]) => [{ store }, count()] as const),
  );
  return {
    requests: new RequestRows(registry),
    observeConnections(open) {
      instruments.observeGauge('gateway_connections', 'Client connections that are open', open);
    },
    malformed: (reason) => malformed.inc({ reason }),
    connectionEnded: (reason) => ended.inc({ reason }),
    hintsDropped: () => hintsDropped.inc(),
    connections: {
      notAccepted: notAcceptedCounter(instruments),
      accepted: () => accepted.inc(),
      answered: () => answered.inc(),
      unanswered: (reason) => unanswered.inc({ reason }),
    },
  };
}
