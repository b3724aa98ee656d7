import { grpcFailureName, isGrpcServerError } from '@gateway/shared/http/grpc-status';
import type { RecordedAttempt } from '@gateway/shared/records/attempt';
import type { Registry } from 'prom-client';
import type { RequestContext } from '../request/context.ts';
import { outcomeOf, serviceOf } from '../request/record.ts';
import type { CompiledVersion, RouteEntry } from '../routing-table/routing-table.ts';
import type { LiveNames } from './live-names.ts';
import { GrpcEnds } from './grpc-ends.ts';
import { namesText } from './request-log.ts';
import {
  CountTable,
  DurationTable,
  noteExemplar,
  observe,
  type Count,
  type Histogram,
  type Sweep,
} from './tables.ts';

/** Routes and versions above this number are counted under `other`, so that the metrics are bounded. */
const MAX_ROUTES = 20_000;
/** The same for versions of services in the histogram of attempts. */
const MAX_SERVICE_VERSIONS = 5_000;

/** The row of requests that ended in one way. */
interface EndRow {
  readonly status: number | undefined;
  readonly outcome: string;
  readonly code: string | undefined;
  readonly row: Count;
}

/** Rows of the requests that a version got. */
interface VersionRows {
  readonly firstByte: Histogram;
  readonly attempt: Histogram;
  /** By result. */
  readonly attempts: Map<string | number, Count>;
  /** The part of a log line that its requests share. Kept here, so that a request looks up one object for both. */
  readonly names: string;
}

/** The rows of one version, or of the requests of a route that got none. No request has to join label values. */
interface Rows {
  /** Environment, route, service and version. */
  readonly labels: readonly string[];
  readonly total: Histogram;
  readonly version: VersionRows | undefined;
  readonly ends: Map<string, EndRow>;
  /** That of the last request: most requests of a version end alike, and then no key has to be made. */
  last: EndRow | undefined;
}

/**
 * The metrics of requests by route, service and version. A request looks up one object. Only names of the configuration
 * become labels, never a name that a caller made up.
 */
export class RequestRows {
  readonly #requests: CountTable;
  readonly #preflights: CountTable;
  readonly #grpc: GrpcEnds;
  readonly #attempts: CountTable;
  readonly #total: DurationTable;
  readonly #firstByte: DurationTable;
  readonly #attempt: DurationTable;
  readonly #inGateway: Histogram;
  // A WeakMap: the rows of an old configuration are freed with it.
  #known = new WeakMap<CompiledVersion | RouteEntry, Rows>();
  #ofNoRoute: Rows | undefined;

  constructor(registry: Registry) {
    this.#requests = new CountTable(
      registry,
      'gateway_requests_total',
      'Requests of the data path, by route, service, version, status and outcome',
      ['environment', 'route', 'service', 'version', 'status', 'outcome', 'code'],
      MAX_ROUTES * 4,
    );
    this.#preflights = new CountTable(
      registry,
      'gateway_preflights_total',
      'CORS preflights that the gateway answered, by route and status',
      ['environment', 'route', 'status'],
      MAX_ROUTES * 2,
    );
    this.#grpc = new GrpcEnds(registry, MAX_ROUTES);
    this.#attempts = new CountTable(
      registry,
      'gateway_upstream_attempts_total',
      'Attempts to reach an upstream, by service and result',
      ['service_id', 'result'],
      MAX_ROUTES,
    );
    this.#total = new DurationTable(
      registry,
      'gateway_request_duration_seconds',
      'Time from the arrival of a request to the end of its response',
      ['environment', 'route'],
      MAX_ROUTES,
    );
    this.#firstByte = new DurationTable(
      registry,
      'gateway_time_to_first_byte_seconds',
      'Time from the arrival of a request to the start of its response, for requests that were sent to an upstream',
      ['environment', 'route', 'service', 'version'],
      MAX_ROUTES,
    );
    this.#attempt = new DurationTable(
      registry,
      'gateway_upstream_attempt_seconds',
      'Time of an attempt until the upstream began to respond or the attempt failed, by service and version',
      ['environment', 'service', 'version'],
      MAX_SERVICE_VERSIONS,
    );
    const gateway = new DurationTable(
      registry,
      'gateway_latency_seconds',
      'Time spent in the gateway itself, without the waits for callers, upstreams, keys, quotas, connections and retries',
      [],
      1,
    );
    this.#inGateway = gateway.at([]);
  }

  /**
   * Counts a finished request, whose account of time is closed.
   *
   * @returns the `namesText` of its version; undefined if it got none
   */
  add(ctx: RequestContext): string | undefined {
    if (ctx.kind === 'preflight') {
      this.#countPreflight(ctx);
      return undefined;
    }
    observe(this.#inGateway, ctx.times.gatewayUs / 1_000_000);
    const rows = this.#rowsOf(ctx);
    this.#endRow(rows, ctx).count += 1;
    if (ctx.grpcStatus !== undefined) this.#grpc.count(rows.labels, ctx.grpcStatus);
    observe(rows.total, ctx.times.totalUs / 1_000_000);
    const { version } = rows;
    if (version === undefined) return undefined;
    // A refusal is fast, however slow the upstream is.
    const sent = ctx.attempts.length > 0;
    if (sent && ctx.status !== undefined) observe(version.firstByte, ctx.firstByteMs / 1000);
    for (const attempt of ctx.attempts) {
      this.#attemptRow(version, ctx, attemptResult(attempt)).count += 1;
      observe(version.attempt, attempt.duration_ms / 1000);
    }
    return version.names;
  }

  /** They are no requests: fast answers of the gateway itself would hide errors and delays of those. */
  #countPreflight({ route, status }: RequestContext): void {
    this.#preflights.at([
      route?.environment ?? '',
      route?.name ?? '',
      String(status ?? ''),
    ]).count += 1;
  }

  /** Ends the series of routes, services and versions that are not in the configuration any more. */
  *sweep(live: LiveNames): Sweep {
    const swept = [
      yield* this.#requests.sweep(
        live,
        ([environment = '', route = '', service = '', version = '']) =>
          live.hasVersion(environment, route, service, version),
      ),
      yield* this.#preflights.sweep(live, ([environment = '', route = '']) =>
        live.hasRoute(environment, route),
      ),
      yield* this.#grpc.sweep(live),
      yield* this.#firstByte.sweep(
        live,
        ([environment = '', route = '', service = '', version = '']) =>
          live.hasVersion(environment, route, service, version),
      ),
      yield* this.#total.sweep(live, ([environment = '', route = '']) =>
        live.hasRoute(environment, route),
      ),
      yield* this.#attempt.sweep(live, ([environment = '', service = '', version = '']) =>
        live.hasServiceVersion(environment, service, version),
      ),
      yield* this.#attempts.sweep(live, ([id = '']) => live.hasServiceId(id)),
    ];
    // Those that are known may be of removed rows, or share the row `other` for want of room that there is now.
    const removed = swept.includes(true);
    if (removed) this.#known = new WeakMap();
    return removed;
  }

  /** Notes the trace of a finished request at the histogram of its route. */
  sampled(ctx: RequestContext, nowMs: number): void {
    noteExemplar(this.#rowsOf(ctx).total, {
      labelSet: { trace_id: ctx.trace.traceId },
      value: ctx.times.totalUs / 1_000_000,
      timestamp: nowMs / 1000,
    });
  }

  #rowsOf(ctx: RequestContext): Rows {
    const route: RouteEntry | undefined = ctx.route ?? ctx.unusableRoute;
    if (route === undefined) return (this.#ofNoRoute ??= this.#make(['other', 'other', '', '']));
    const key = ctx.version ?? route;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const service = serviceOf(ctx)?.name ?? '';
    const labels = [route.environment, route.name, service, ctx.version?.name ?? ''] as const;
    const rows = this.#make(labels, ctx.version);
    this.#known.set(key, rows);
    return rows;
  }

  #make(labels: readonly [string, string, string, string], version?: CompiledVersion): Rows {
    const [environment, route, service, name] = labels;
    return {
      labels,
      total: this.#total.at([environment, route]),
      version: version && {
        firstByte: this.#firstByte.at(labels),
        attempt: this.#attempt.at([environment, service, name]),
        attempts: new Map(),
        names: namesText({ environment, route, version: name === '' ? null : name, service }),
      },
      ends: new Map(),
      last: undefined,
    };
  }

  #endRow(rows: Rows, ctx: RequestContext): Count {
    const { status, errorCode: code } = ctx;
    const outcome = outcomeOf(ctx);
    const { last } = rows;
    if (last?.outcome === outcome && last.status === status && last.code === code) return last.row;
    const labels = [status === undefined ? '' : String(status), outcome, code ?? ''];
    const key = labels.join(' ');
    let end = rows.ends.get(key);
    if (end === undefined) {
      end = { status, outcome, code, row: this.#requests.at([...rows.labels, ...labels]) };
      rows.ends.set(key, end);
    }
    rows.last = end;
    return end.row;
  }

  #attemptRow({ attempts }: VersionRows, ctx: RequestContext, result: string | number): Count {
    let row = attempts.get(result);
    if (row === undefined) {
      row = this.#attempts.at([ctx.version?.service.id ?? '', String(result)]);
      attempts.set(result, row);
    }
    return row;
  }
}

/** How a recorded attempt ended, as the label of a metric: its error, its status, or the failure of a gRPC call. */
function attemptResult(attempt: RecordedAttempt): string | number {
  const { error, status, grpc_status: grpcStatus } = attempt;
  if (grpcStatus !== undefined && isGrpcServerError(grpcStatus)) return grpcFailureName(grpcStatus);
  return error ?? status ?? '';
}
