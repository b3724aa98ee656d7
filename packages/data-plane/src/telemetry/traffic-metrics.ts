import { REFUSAL_REASONS, type RefusalReason } from '@gateway/http1/server/options';
import { Instruments } from '@gateway/shared/telemetry/instruments';
import type { Registry } from 'prom-client';
import type { RequestContext } from '../request/context.ts';
import { outcomeOf } from '../request/record.ts';
import type { CompiledRoute, CompiledService } from '../routing-table/routing-table.ts';
import { CountTable, DurationTable, noteExemplar, observe, type Histogram } from './tables.ts';

export interface TrafficMetrics {
  /** Counts a finished request. */
  observe(ctx: RequestContext, totalMs: number): void;
  /** Notes the trace of a finished request at the histogram of its route. */
  sampled(ctx: RequestContext, totalMs: number, nowMs: number): void;
  /** Counts a malformed request, by the parser's reason. */
  malformed(reason: RefusalReason): void;
  /** Counts a TLS connection that the gateway ended because of its caller. */
  connectionEnded(reason: string): void;
  /** Counts a client connection above a limit. */
  connectionRefused(reason: string): void;
}

export interface TrafficGauges {
  readonly inFlight: () => number;
  /** Slots in use, by what they are for. */
  readonly slots: Readonly<Record<string, () => number>>;
  /** Open client connections. */
  readonly connections: () => number;
  /** Every reason for which a client connection may be refused. */
  readonly connectionRefusals: readonly string[];
  readonly connectionEndReasons: readonly string[];
  /** Counters that full stores have dropped, by the store's name. */
  readonly dropped: Readonly<Record<string, () => number>>;
}

/** Routes above this number are counted under `other`, so that the metrics are bounded. */
const MAX_ROUTES = 20_000;

interface Count {
  count: number;
}

/** The rows of one route, kept so that no request has to join label values. */
interface RouteRows {
  readonly labels: readonly string[];
  readonly total: Histogram;
  readonly ends: Map<string, EndRow>;
  /** That of the last request: most requests of a route end alike, and then no key has to be made. */
  last: EndRow | undefined;
}

/** The row of requests that ended in one way. */
interface EndRow {
  readonly status: number | undefined;
  readonly outcome: string;
  readonly code: string | undefined;
  readonly row: Count;
}

/**
 * Metrics of the data path. A request changes a few numbers in memory; text is built at a scrape. Only
 * existing routes become labels, never a name that a caller made up.
 */
export function createTrafficMetrics(registry: Registry, gauges: TrafficGauges): TrafficMetrics {
  const requests = new CountTable(
    registry,
    'gateway_requests_total',
    'Requests of the data path, by route, status and outcome',
    ['environment', 'route', 'status', 'outcome', 'code'],
    MAX_ROUTES * 4,
  );
  const attempts = new CountTable(
    registry,
    'gateway_upstream_attempts_total',
    'Attempts to reach an upstream, by service and result',
    ['service', 'result'],
    MAX_ROUTES,
  );
  const total = new DurationTable(
    registry,
    'gateway_request_duration_seconds',
    'Time from the arrival of a request to the end of its response',
    ['environment', 'route'],
    MAX_ROUTES,
  );
  const gateway = new DurationTable(
    registry,
    'gateway_latency_seconds',
    'Time spent in the gateway itself, without the wait for the upstream',
    [],
    1,
  );
  const instruments = new Instruments(registry);
  const malformed = instruments.counterBy(
    'gateway_malformed_requests_total',
    'Requests that were not well-formed HTTP',
    'reason',
    REFUSAL_REASONS,
  );
  const refused = instruments.counterBy(
    'gateway_connections_refused_total',
    'Client connections that were closed at once because there were too many',
    'reason',
    gauges.connectionRefusals,
  );
  // The error codes of Node, which are reasons too, have no series before the first event, because no list has them.
  const ended = instruments.counterBy(
    'gateway_connections_ended_total',
    'Client connections that the gateway ended for a failure of TLS, an internal error or a breach of HTTP/2, by reason',
    'reason',
    gauges.connectionEndReasons,
  );
  instruments.observeGauge(
    'gateway_connections',
    'Client connections that are open',
    gauges.connections,
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
  const inGateway = gateway.at([]);
  // WeakMaps: the rows of an old configuration are freed with it.
  const ofRoutes = new WeakMap<CompiledRoute, RouteRows>();
  const ofServices = new WeakMap<CompiledService, Map<string | number, Count>>();
  let ofNoRoute: RouteRows | undefined;

  function rowsOf(route: CompiledRoute | undefined): RouteRows {
    const known = route === undefined ? ofNoRoute : ofRoutes.get(route);
    if (known !== undefined) return known;
    const labels = route === undefined ? ['other', 'other'] : [route.environment, route.name];
    const rows = {
      labels,
      total: total.at(labels),
      ends: new Map<string, EndRow>(),
      last: undefined,
    };
    if (route === undefined) ofNoRoute = rows;
    else ofRoutes.set(route, rows);
    return rows;
  }

  function endRow(rows: RouteRows, ctx: RequestContext): Count {
    const { status, errorCode: code } = ctx;
    const outcome = outcomeOf(ctx);
    const { last } = rows;
    if (last?.outcome === outcome && last.status === status && last.code === code) return last.row;
    const labels = [status === undefined ? '' : String(status), outcome, code ?? ''];
    const key = labels.join(' ');
    let end = rows.ends.get(key);
    if (end === undefined) {
      end = { status, outcome, code, row: requests.at([...rows.labels, ...labels]) };
      rows.ends.set(key, end);
    }
    rows.last = end;
    return end.row;
  }

  function attemptRow(service: CompiledService, result: string | number): Count {
    let rows = ofServices.get(service);
    if (rows === undefined) ofServices.set(service, (rows = new Map<string | number, Count>()));
    let row = rows.get(result);
    if (row === undefined) {
      row = attempts.at([service.id, String(result)]);
      rows.set(result, row);
    }
    return row;
  }

  return {
    observe(ctx, totalMs) {
      const rows = rowsOf(ctx.route);
      endRow(rows, ctx).count += 1;
      observe(rows.total, totalMs / 1000);
      observe(inGateway, ctx.gatewayMs / 1000);
      const service = ctx.version?.service;
      if (service === undefined) return;
      for (const { error, status } of ctx.attempts) {
        attemptRow(service, error ?? status ?? '').count += 1;
      }
    },
    sampled(ctx, totalMs, nowMs) {
      noteExemplar(rowsOf(ctx.route).total, {
        labelSet: { trace_id: ctx.trace.traceId },
        value: totalMs / 1000,
        timestamp: nowMs / 1000,
      });
    },
    malformed: (reason) => malformed.inc({ reason }),
    connectionEnded: (reason) => ended.inc({ reason }),
    connectionRefused: (reason) => refused.inc({ reason }),
  };
}
