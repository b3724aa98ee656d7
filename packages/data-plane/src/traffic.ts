import type { ReportInternalError } from '@gateway/http/connection-guard';
import type { ServerExchange } from '@gateway/http/exchange';
import type { Tracing } from '@gateway/shared/opentelemetry/open-telemetry';
import type { RequestRecord } from '@gateway/shared/records/record';
import { createIdFactory } from '@gateway/shared/ids';
import type { ServedCertificate } from '@gateway/shared/tls/served-certificate';
import { hashTokenSecret } from '@gateway/shared/tokens/secret';
import { AuthFailures } from './access/auth-failures.ts';
import { PreflightAllowance } from './cors/preflight-allowance.ts';
import { reachPreflight } from './cors/reach-preflight.ts';
import { createExplain, type Explain } from './explain/explain-request.ts';
import { openIdempotencyKeys } from './idempotency/open-keys.ts';
import type { IdempotencyStore } from './idempotency/store/idempotency-store.ts';
import { createRequestSlots } from './limits/request-slots.ts';
import { UNANSWERED_REASONS } from './listener/connection-outcomes.ts';
import { CONNECTION_END_REASONS, type ConnectionEndReason } from './listener/end-reasons.ts';
import { startServer } from './listener/listener.ts';
import type { ConnectionSource } from './listener/options.ts';
import { PassThroughSlots } from './listener/pass-through-slots.ts';
import { createPassThrough } from './listener/pass-through.ts';
import { createRefusalWriter } from './listener/refusal.ts';
import { serverLimits } from './listener/server-limits.ts';
import { openMirrors } from './mirror/open-mirrors.ts';
import type { LocalParts } from './parts.ts';
import type { QuotaStore } from './quota/quota-store.ts';
import type { QuotaViews } from './quota/quota-view.ts';
import type { RequestContext } from './request/context.ts';
import { createHandler } from './request/handled-request.ts';
import { leavesHttp, reachRoute } from './request/reach-route.ts';
import { environmentByCaller } from './request/resolve-route-stage.ts';
import { buildRecord, serviceOf } from './request/record.ts';
import { upstreamFields, type RespondOptions } from './request/reply.ts';
import { createBodyBudget } from './request/request-body.ts';
import { decidingStages, upgradeStages, withoutPreflight, type StageOptions } from './stages.ts';
import { createRequestLog, isLogged } from './telemetry/request-log.ts';
import { startSeriesSweep } from './telemetry/series-sweep.ts';
import { registerServiceInfo } from './telemetry/service-info.ts';
import { createTrafficMetrics } from './telemetry/traffic-metrics.ts';
import { createSamplingTracer } from './tracing/sampling-tracer.ts';
import { passedSpan, requestSpans } from './tracing/spans/request-spans.ts';
import { createTracer } from './tracing/trace-context.ts';
import { createForward, createForwardUpgrade } from './upstream/forward-stage.ts';
import { refuseFalseTunnel } from './websocket/refuse-false-tunnel.ts';
import { RetryBudgets } from './upstream/retry-budget.ts';
import { tunnelOpener } from './websocket/tunnel.ts';

/** What traffic needs besides the local parts. */
export interface TrafficPorts {
  /** Whether the configuration is loaded. Before that, no route or token may be reported as unknown. */
  readonly ready: () => boolean;
  /** Whether the configuration of every environment that NATS holds is served. */
  readonly complete: () => boolean;
  readonly quotas: QuotaStore & { readonly dropped: number };
  readonly idempotencyStore: IdempotencyStore;
  /** How far the clock that all data planes share is ahead of this one's, ms; undefined: unknown. */
  readonly clockOffsetMs: () => number | undefined;
  /** Gives the server its connections; without it, it listens on the port itself. */
  readonly connections?: ConnectionSource | undefined;
  /** undefined: the port has no TLS. */
  readonly certificate: ServedCertificate | undefined;
  /** Takes the record of a finished request. */
  readonly addRecord: (record: RequestRecord) => void;
  /** undefined: no request is sampled. */
  readonly tracing: Pick<Tracing, 'sample' | 'add'> | undefined;
}

export interface Traffic {
  readonly port: number;
  /** Says what would happen to a request, with this view of its quotas. */
  explainWith(quotas: QuotaViews): Explain;
  /** Closes the port, drains and stops: see `DataPlaneServer`. */
  stop(): Promise<void>;
}

const MAX_ADDRESSES = 100_000;
const CONTROL_PLANE_TIMEOUT_MS = 30_000;
/** How long a request with an idempotency key may run after its caller has left. */
const UNATTENDED_TIMEOUT_MS = 60_000;
/** At a stop: how long to wait until the outcomes of idempotency keys are stored. */
const CLAIMS_DRAIN_MS = 2_000;

/**
 * Builds the way of a request and opens it: what connections are for, the stages, what follows them, and what remains of
 * a request when it is over. Read it from `startServer` on.
 */
export async function startTraffic(parts: LocalParts, ports: TrafficPorts): Promise<Traffic> {
  const { config, runner, clock, log, random, registry, table, overloads, inFlight } = parts;
  const { tracing, complete } = ports;
  const failures = new AuthFailures(config.AUTH_FAILURE_LIMIT, MAX_ADDRESSES);
  const preflights = new PreflightAllowance(config.PREFLIGHT_LIMIT, MAX_ADDRESSES);
  const makeId = createIdFactory(() => clock.nowMs(), random);
  const requestLog = createRequestLog(log, clock);
  const logsRequests = config.ACCESS_LOG === 'on';
  const slots = createRequestSlots(config);
  const passThroughSlots = new PassThroughSlots(config, overloads);
  const bodyBudget = createBodyBudget(config.MAX_KEPT_BODY_BYTES);
  const idempotency = openIdempotencyKeys({
    store: ports.idempotencyStore,
    masterKeys: config.GATEWAY_MASTER_KEYS,
    clock,
    clockOffsetMs: ports.clockOffsetMs,
    random,
    log,
    registry,
    maxWaiting: config.MAX_IDEMPOTENT_WAITERS,
  });
  const metrics = createTrafficMetrics(registry, {
    inFlight: () => inFlight.count,
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
      preflights: () => preflights.dropped,
      verified_tokens: () => parts.jwts.dropped,
    },
  });
  registerServiceInfo(registry, () => table.current);
  const contextOptions = {
    clock,
    makeId,
    trace: tracing ? createSamplingTracer(random, tracing.sample) : createTracer(random),
    trustedProxies: config.TRUSTED_PROXIES,
    table: () => table.current,
    bodyBudget,
    bodyIdleTimeoutMs: config.BODY_IDLE_TIMEOUT_MS,
  };
  const copies = openMirrors(parts, ports, { context: contextOptions, slots, bodyBudget });
  const access = { failures, nowMs: () => clock.nowMs(), complete };
  const stages: StageOptions = {
    bulkheads: slots,
    admit: { overloads, maxHeaderLines: config.MAX_HEADER_LINES, ready: ports.ready, complete },
    resolveRoute: { defaultEnvironment: config.DEFAULT_ENVIRONMENT, hashOf: hashTokenSecret },
    preflight: { allowance: preflights, nowMs: access.nowMs },
    limits: parts,
    access,
    authenticate: { ...access, jwts: parts.jwts, waiting: slots.unauthenticated, overloads },
    affinities: parts.affinities,
    quota: { store: ports.quotas, clock },
    idempotency: {
      keys: idempotency.keys,
      clock,
      budget: bodyBudget,
      maxRequestBodyBytes: config.MAX_IDEMPOTENT_BODY_BYTES,
      unattendedTimeoutMs: UNATTENDED_TIMEOUT_MS,
      count: (result) => idempotency.metrics.result(result),
      dropped: (bytes) => idempotency.metrics.dropped(bytes),
    },
    forward: {
      overloads,
      adaptiveLimits: parts.adaptiveLimits,
      upstreams: parts.upstreams,
      balancers: parts.health,
      retryBudgets: new RetryBudgets(clock),
      mirrors: copies.mirrors,
      clock,
      random: Math.random,
      retryBodyBytes: config.MAX_RETRY_BODY_BYTES,
    },
  };
  let draining = false;
  const respond: RespondOptions = {
    clock,
    failureAllowance: (address, nowMs) => failures.left(address, nowMs),
    draining: () => draining,
  };
  const responseFields = upstreamFields(respond);
  /** What remains of a request: its metrics, its line in the log, its record and its spans. */
  const finished = (ctx: RequestContext) => {
    ctx.times.close(clock.monotonicMs());
    const record = buildRecord(ctx, config.DATA_PLANE_ID);
    const names = metrics.requests.add(ctx);
    if (logsRequests && isLogged(ctx.route?.settings.access_log, record.outcome, Math.random)) {
      requestLog.add({ record, names, service: serviceOf(ctx)?.name, upstream: ctx.upstream });
    }
    ports.addRecord(record);
    const { sampled } = ctx.trace;
    if (sampled === undefined) return;
    tracing?.add(requestSpans(ctx, record, sampled));
    metrics.requests.sampled(ctx, clock.nowMs());
  };
  const passed = (ctx: RequestContext) => {
    const { sampled } = ctx.trace;
    if (sampled !== undefined) tracing?.add([passedSpan(ctx, sampled, clock.monotonicMs())]);
  };
  const hintsDropped = () => metrics.hintsDropped();
  const shared = { contextOptions, respond, inFlight, log, hintsDropped };
  const forward = createForward(stages.forward);
  const proxied = { stages: decidingStages(stages), forward, ...responseFields, finished };
  const preflight = createHandler(proxied, shared);
  const proxy = createHandler({ ...proxied, stages: withoutPreflight(proxied.stages) }, shared);
  const upgrade = createHandler(
    {
      stages: upgradeStages(stages),
      forward: createForwardUpgrade(stages.forward, 'websocket'),
      ...responseFields,
      addFields(ctx, status) {
        refuseFalseTunnel(ctx, status);
        return responseFields.addFields(ctx, status);
      },
      openTunnel: tunnelOpener({ clock, idleTimeoutMs: config.WEBSOCKET_IDLE_TIMEOUT_MS }),
      finished,
    },
    shared,
  );
  const passThrough = createHandler(
    createPassThrough({
      passed,
      controlPlaneUrl: config.CONTROL_PLANE_URL,
      client: parts.controlPlane,
      slots: passThroughSlots,
      timeoutMs: CONTROL_PLANE_TIMEOUT_MS,
      maxHeaderLines: config.MAX_HEADER_LINES,
    }),
    shared,
  );
  const environmentOf = environmentByCaller(stages.resolveRoute);
  const reach = { ...stages.resolveRoute, environmentOf, complete };
  const onExchange = (exchange: ServerExchange) => {
    const { head } = exchange;
    const reached = reachRoute(head, table.current, reach);
    const asked =
      head.method === 'OPTIONS' ? reachPreflight(head, reached, table.current, reach) : undefined;
    if (asked !== undefined) preflight(exchange, asked);
    else if (leavesHttp(head, reached.isProxied)) upgrade(exchange, reached);
    else if (reached.isProxied) proxy(exchange, reached);
    else passThrough(exchange, reached);
  };
  const internalError: ReportInternalError = (error, request) => {
    metrics.connectionEnded('INTERNAL_ERROR' satisfies ConnectionEndReason);
    const ids = { request_id: request?.id, trace_id: request?.trace.traceId };
    log.error({ side: 'caller', ...ids, err: error }, 'connection failed unexpectedly');
  };
  const server = await startServer({
    host: config.GATEWAY_HOST,
    port: config.GATEWAY_PORT,
    connections: ports.connections,
    onExchange,
    random,
    refused: (reason) => metrics.malformed(reason),
    ...createRefusalWriter({ makeId, failures, clock }),
    inFlight,
    clock,
    log,
    connectionCounts: metrics.connections,
    limits: serverLimits(config, log),
    certificate: ports.certificate,
    servesCleartextHttp2: config.HTTP2_CLEARTEXT === 'on',
    cut: () => metrics.connectionEnded('UNREAD_BODY'),
    connectionEnded: (reason) => metrics.connectionEnded(reason),
    internalError,
  });
  metrics.observeConnections(() => server.openConnections());
  const sweep = startSeriesSweep(parts.backgroundClock, () => table.current, [
    (live) => metrics.requests.sweep(live),
    (live) => overloads.sweep(live),
    (live) => copies.sweep(live),
  ]);
  runner.defer('series', () => sweep.stop());
  return {
    port: server.port,
    explainWith: (quotas) =>
      createExplain({
        config,
        stages,
        context: contextOptions,
        failures,
        jwts: parts.jwts,
        quotas,
        keys: idempotency.keys,
      }),
    async stop() {
      const startedMs = clock.monotonicMs();
      // A caller that is asked to connect again before that could do so while the port closes, and would be reset.
      await server.stopAccepting();
      draining = true;
      // While many callers connect, the port takes seconds to close.
      const leftMs = config.DRAIN_TIMEOUT_MS - (clock.monotonicMs() - startedMs);
      await server.drain(config.DRAIN_GRACE_MS, Math.max(0, leftMs));
      copies.mirrors.stop();
      await idempotency.keys.drain(CLAIMS_DRAIN_MS);
      requestLog.flush();
    },
  };
}
