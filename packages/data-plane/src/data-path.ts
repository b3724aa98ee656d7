import type { Clock } from '@gateway/shared/clock';
import { createIdFactory, type RandomSource } from '@gateway/shared/ids';
import type { RequestRecord } from '@gateway/shared/records/record';
import type { ReportInternalError } from '@gateway/http/connection-guard';
import type { Tracing } from '@gateway/shared/opentelemetry/open-telemetry';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { ServedCertificate } from '@gateway/shared/tls/served-certificate';
import { hashTokenSecret } from '@gateway/shared/tokens/secret';
import type { Registry } from 'prom-client';
import type { Config } from './config.ts';
import type { RequestContext } from './request/context.ts';
import { respondHead, type RespondOptions } from './request/reply.ts';
import { buildRecord, serviceOf } from './request/record.ts';
import { createBodyBudget, type BodyBudget } from './request/request-body.ts';
import { decidingStages, upgradeStages, type StageOptions } from './stages.ts';
import { createSamplingTracer } from './tracing/sampling-tracer.ts';
import { createTracer } from './tracing/trace-context.ts';
import { passedSpan, requestSpans } from './tracing/spans/request-spans.ts';
import { UNANSWERED_REASONS } from './listener/connection-outcomes.ts';
import { CONNECTION_END_REASONS, type ConnectionEndReason } from './listener/end-reasons.ts';
import { startServer, type ConnectionSource, type DataPlaneServer } from './listener/listener.ts';
import { AuthFailures } from './access/auth-failures.ts';
import { createExplain, type Explain } from './explain/explain-request.ts';
import type { OpenedKeys } from './idempotency/open-keys.ts';
import type { DryJwtVerifier, JwtVerifier } from './access/jwt/jwt-verifier.ts';
import type { QuotaStore } from './quota/quota-store.ts';
import type { QuotaViews } from './quota/quota-view.ts';
import type { RoutingTable } from './routing-table/routing-table.ts';
import { isLogged } from './telemetry/is-logged.ts';
import { createRequestLog } from './telemetry/request-log.ts';
import { registerServiceInfo } from './telemetry/service-info.ts';
import type { SweepSeries } from './telemetry/series-sweep.ts';
import { createTrafficMetrics } from './telemetry/traffic-metrics.ts';
import type { ServiceBalancers } from './upstream/health/service-balancer.ts';
import type { UpstreamClient } from './upstream/upstream-client.ts';
import { RetryBudgets } from './upstream/retry-budget.ts';
import type { ContextOptions } from './request/create-context.ts';
import { InFlight } from './request/in-flight.ts';
import { createRefusalWriter } from './listener/refusal.ts';
import { createRequestSlots, type RequestSlots } from './limits/request-slots.ts';
import type { AdaptiveLimits } from './limits/adaptive/adaptive-limits.ts';
import type { Overloads } from './limits/overloads.ts';
import { readOpenFilesLimit, withinOpenFiles } from './limits/open-files.ts';
import { PassThroughSlots } from './listener/pass-through-slots.ts';
import { createPassThrough } from './listener/pass-through.ts';
import { createHandler, type Handling } from './request/handled-request.ts';
import { endToEndFields } from './request/reply-head.ts';
import { createForward, createForwardUpgrade } from './upstream/forward-stage.ts';
import { tunnelOpener } from './websocket/tunnel.ts';

/** What the data path needs from outside. */
export interface DataPathPorts {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Logger;
  readonly registry: Registry;
  readonly table: () => RoutingTable;
  /** Whether the configuration is loaded. Before that, no route or token may be reported as unknown. */
  readonly ready: () => boolean;
  /** Whether the configuration of every environment that NATS holds is served. */
  readonly complete: () => boolean;
  readonly overloads: Overloads;
  readonly adaptiveLimits: AdaptiveLimits;
  readonly upstreams: UpstreamClient;
  readonly balancers: ServiceBalancers;
  /** Client for the control plane; it may have any address. */
  readonly controlPlane: UpstreamClient;
  readonly quotas: QuotaStore & { readonly dropped: number };
  readonly jwts: JwtVerifier & DryJwtVerifier & { readonly dropped: number };
  readonly idempotency: OpenedKeys;
  /** Gives the data path its connections; without it, it listens on the port itself. */
  readonly connections?: ConnectionSource | undefined;
  /** undefined: the port has no TLS. */
  readonly certificate: ServedCertificate | undefined;
  /** Takes the record of a finished request. */
  readonly addRecord: (record: RequestRecord) => void;
  /** undefined: no request is sampled. */
  readonly tracing: Pick<Tracing, 'sample' | 'add'> | undefined;
}

export interface DataPath {
  readonly port: number;
  /** Requests in flight. */
  inFlight(): number;
  /** Says what would happen to a request, with this view of its quotas. */
  explainWith(quotas: QuotaViews): Explain;
  /** Ends the series of requests whose names are not in use any more. */
  readonly sweepSeries: SweepSeries;
  /** Drains and stops: see `DataPlaneServer.drain`. */
  stop(): Promise<void>;
}

const MAX_ADDRESSES = 100_000;
const CONTROL_PLANE_TIMEOUT_MS = 30_000;
/** How long a request with an idempotency key may run after its caller has left. */
const UNATTENDED_TIMEOUT_MS = 60_000;
/** At a stop: how long to wait until the outcomes of idempotency keys are stored. */
const CLAIMS_DRAIN_MS = 2_000;

/** Builds and starts the data path: the stages, the handlers and the server. */
export async function startDataPath(ports: DataPathPorts): Promise<DataPath> {
  const { config, clock, log, tracing } = ports;
  const inFlight = new InFlight();
  const failures = new AuthFailures(config.AUTH_FAILURE_LIMIT, MAX_ADDRESSES);
  const makeId = createIdFactory(() => clock.nowMs(), ports.random);
  const requestLog = createRequestLog(log, clock);
  const logsRequests = config.ACCESS_LOG === 'on';
  const slots = createRequestSlots(config);
  const passThroughSlots = new PassThroughSlots(config, ports.overloads);
  let draining = false;
  let openConnections = () => 0;

  const metrics = createTrafficMetrics(ports.registry, {
    inFlight: () => inFlight.count,
    connections: () => openConnections(),
    slots: {
      requests: () => slots.requests.count,
      websockets: () => slots.websockets.count,
      unauthenticated: () => slots.unauthenticated.count,
      ...passThroughSlots.gauges,
    },
    unansweredReasons: UNANSWERED_REASONS,
    connectionEndReasons: CONNECTION_END_REASONS,
    dropped: {
      quota: () => ports.quotas.dropped,
      auth_failures: () => failures.dropped,
      verified_tokens: () => ports.jwts.dropped,
    },
  });
  registerServiceInfo(ports.registry, ports.table);
  const finished = (ctx: RequestContext) => {
    ctx.times.close(clock.monotonicMs());
    const record = buildRecord(ctx, config.DATA_PLANE_ID);
    const names = metrics.observe(ctx);
    if (logsRequests && isLogged(ctx.route?.settings.access_log, record.outcome, Math.random)) {
      requestLog.add({ record, names, service: serviceOf(ctx)?.name, upstream: ctx.upstream });
    }
    ports.addRecord(record);
    const { sampled } = ctx.trace;
    if (sampled === undefined) return;
    tracing?.add(requestSpans(ctx, record, sampled));
    metrics.sampled(ctx, clock.nowMs());
  };
  const passed = (ctx: RequestContext) => {
    const { sampled } = ctx.trace;
    if (sampled === undefined) return;
    tracing?.add([passedSpan(ctx, sampled, clock.monotonicMs())]);
  };
  const respond: RespondOptions = {
    clock,
    failureAllowance: (address, nowMs) => failures.left(address, nowMs),
    draining: () => draining,
  };
  const bodyBudget = createBodyBudget(config.MAX_KEPT_BODY_BYTES);
  const contextOptions: ContextOptions = {
    clock,
    makeId,
    trace:
      tracing === undefined
        ? createTracer(ports.random)
        : createSamplingTracer(ports.random, tracing.sample),
    trustedProxies: config.TRUSTED_PROXIES,
    table: ports.table,
    bodyBudget,
    bodyIdleTimeoutMs: config.BODY_IDLE_TIMEOUT_MS,
  };
  const internalError: ReportInternalError = (error, request) => {
    metrics.connectionEnded('INTERNAL_ERROR' satisfies ConnectionEndReason);
    const ids = { request_id: request?.id, trace_id: request?.trace.traceId };
    log.error({ side: 'caller', ...ids, err: error }, 'connection failed unexpectedly');
  };
  const stageOptions = stagesFrom(ports, slots, failures, bodyBudget);
  const lingerTimeoutMs = config.LINGER_TIMEOUT_MS;
  const cut = () => metrics.connectionEnded('UNREAD_BODY');
  const shared = { contextOptions, respond, inFlight, log };
  const passFields: Handling['passFields'] = (ctx, { status, fields }) => {
    const own = respondHead(ctx, status, respond);
    // Not by `push`: it would make room for as much again.
    return endToEndFields(fields, ctx).concat(own);
  };

  const server: DataPlaneServer = await startServer({
    host: config.GATEWAY_HOST,
    port: config.GATEWAY_PORT,
    connections: ports.connections,
    proxy: createHandler(
      {
        stages: decidingStages(stageOptions),
        forward: createForward(stageOptions.forward),
        passFields,
        finished,
      },
      shared,
    ),
    passThrough: createHandler(
      createPassThrough({
        passed,
        controlPlaneUrl: config.CONTROL_PLANE_URL,
        client: ports.controlPlane,
        slots: passThroughSlots,
        timeoutMs: CONTROL_PLANE_TIMEOUT_MS,
        maxHeaderLines: config.MAX_HEADER_LINES,
      }),
      shared,
    ),
    upgrade: createHandler(
      {
        stages: upgradeStages(stageOptions),
        forward: createForwardUpgrade(stageOptions.forward, 'websocket'),
        passFields,
        openTunnel: tunnelOpener({ clock, idleTimeoutMs: config.WEBSOCKET_IDLE_TIMEOUT_MS }),
        finished,
      },
      shared,
    ),
    refused: (reason) => metrics.malformed(reason),
    refusal: createRefusalWriter({ makeId, failures, clock }),
    inFlight,
    clock,
    log,
    connectionCounts: metrics.connections,
    limits: {
      maxHeaderBytes: config.MAX_HEADER_BYTES,
      headersTimeoutMs: config.HEADERS_TIMEOUT_MS,
      keepAliveTimeoutMs: config.KEEP_ALIVE_TIMEOUT_MS,
      lingerTimeoutMs,
      maxConnections: withinOpenFiles(config.MAX_CONNECTIONS, readOpenFilesLimit(), log),
      maxConnectionsPerAddress: config.MAX_CONNECTIONS_PER_ADDRESS,
      trustedProxies: config.TRUSTED_PROXIES,
      stalledTimeoutMs: config.BODY_IDLE_TIMEOUT_MS,
      maxHeaderLines: config.MAX_HEADER_LINES,
      maxConcurrentStreams: config.HTTP2_MAX_CONCURRENT_STREAMS,
      maxResetsPerMinute: config.HTTP2_MAX_RESETS_PER_MINUTE,
    },
    certificate: ports.certificate,
    cut,
    connectionEnded: (reason) => metrics.connectionEnded(reason),
    internalError,
  });
  openConnections = () => server.openConnections();
  return {
    port: server.port,
    inFlight: () => inFlight.count,
    sweepSeries: (live) => metrics.sweep(live),
    explainWith: (quotas) =>
      createExplain({
        config,
        stages: stageOptions,
        context: contextOptions,
        failures,
        jwts: ports.jwts,
        quotas,
        keys: ports.idempotency.keys,
      }),
    async stop() {
      draining = true;
      await server.drain(config.DRAIN_GRACE_MS, config.DRAIN_TIMEOUT_MS);
      await ports.idempotency.keys.drain(CLAIMS_DRAIN_MS);
      requestLog.flush();
    },
  };
}

function stagesFrom(
  ports: DataPathPorts,
  slots: RequestSlots,
  failures: AuthFailures,
  budget: BodyBudget,
): StageOptions {
  const { config, clock, overloads } = ports;
  const access = { failures, nowMs: () => clock.nowMs(), complete: ports.complete };
  return {
    bulkheads: slots,
    admit: {
      overloads,
      maxHeaderLines: config.MAX_HEADER_LINES,
      ready: ports.ready,
    },
    resolveRoute: { defaultEnvironment: config.DEFAULT_ENVIRONMENT, hashOf: hashTokenSecret },
    limits: { adaptiveLimits: ports.adaptiveLimits, overloads },
    access,
    authenticate: {
      ...access,
      jwts: ports.jwts,
      waiting: slots.unauthenticated,
      overloads,
    },
    quota: { store: ports.quotas, clock },
    idempotency: {
      keys: ports.idempotency.keys,
      clock,
      budget,
      maxRequestBodyBytes: config.MAX_IDEMPOTENT_BODY_BYTES,
      unattendedTimeoutMs: UNATTENDED_TIMEOUT_MS,
      count: (result) => ports.idempotency.metrics.result(result),
      dropped: (bytes) => ports.idempotency.metrics.dropped(bytes),
    },
    forward: {
      overloads,
      adaptiveLimits: ports.adaptiveLimits,
      upstreams: ports.upstreams,
      balancers: ports.balancers,
      retryBudgets: new RetryBudgets(clock),
      clock,
      random: Math.random,
      retryBodyBytes: config.MAX_RETRY_BODY_BYTES,
    },
  };
}
