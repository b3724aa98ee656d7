import { startServer } from '@gateway/data-plane/listener/listener';
import { createRefusalWriter } from '@gateway/data-plane/listener/refusal';
import { AuthFailures } from '@gateway/data-plane/access/auth-failures';
import { createHandler } from '@gateway/data-plane/request/handled-request';
import { InFlight } from '@gateway/data-plane/request/in-flight';
import { inboundHeaders } from '@gateway/data-plane/request/inbound-headers';
import { createBodyBudget } from '@gateway/data-plane/request/request-body';
import { upstreamFields } from '@gateway/data-plane/request/reply';
import type { Stage } from '@gateway/data-plane/request/stage';
import { EMPTY_TABLE, type CompiledRoute } from '@gateway/data-plane/routing-table/routing-table';
import { createTracer } from '@gateway/data-plane/tracing/trace-context';
import { systemClock as clock } from '@gateway/shared/clock';
import type { ErrorCode } from '@gateway/shared/errors/error-table';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { createIdFactory, systemRandom } from '@gateway/shared/ids';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { createLogger } from '@gateway/shared/telemetry/logger';

/** The metadata that says with which code a call is to fail, and whether it may have reached an upstream. */
export const CODE_FIELD = 'x-fail-with';
export const SENT_FIELD = 'x-was-sent';
/** The message of each error. */
export const MESSAGE = 'It failed: 100 %, été.';

/** The value after the name in a flat list. */
function valueOf(fields: readonly string[], name: string): string | undefined {
  const at = fields.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return at === -1 ? undefined : fields[at + 1];
}

export interface FailingGateway {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * The listener and the engines of a data plane, without TLS, and the way of its requests with one stage, which refuses each
 * request with the code that it asks for. So a client can get every code.
 */
export async function startFailingGateway(
  grpc_errors: CompiledRoute['settings']['grpc_errors'],
): Promise<FailingGateway> {
  const makeId = createIdFactory(() => clock.nowMs(), systemRandom);
  const trustedProxies = parseAddressRanges([]);
  const failures = new AuthFailures(1_000_000, 10);
  const inFlight = new InFlight();
  const log = createLogger('failing-gateway', 'silent');
  const respond = {
    clock,
    failureAllowance: (address: string, nowMs: number) => failures.left(address, nowMs),
    draining: () => false,
  };
  const fail: Stage = (ctx) => {
    const code = valueOf(ctx.inbound.raw, CODE_FIELD) as ErrorCode;
    ctx.mayHaveSent = valueOf(ctx.inbound.raw, SENT_FIELD) !== undefined;
    ctx.route = { settings: { grpc_errors } } as CompiledRoute;
    throw new GatewayError(code, MESSAGE);
  };
  const handle = createHandler(
    {
      stages: [['fail', fail]],
      forward: () => undefined,
      ...upstreamFields(respond),
      finished: () => undefined,
    },
    {
      contextOptions: {
        clock,
        makeId,
        trace: createTracer(systemRandom),
        trustedProxies,
        table: () => EMPTY_TABLE,
        bodyBudget: createBodyBudget(1024 * 1024),
        bodyIdleTimeoutMs: 60_000,
      },
      respond,
      inFlight,
      log,
      hintsDropped: () => undefined,
    },
  );
  const none = () => undefined;
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    connections: undefined,
    onExchange(exchange) {
      const { fields, common } = exchange.head;
      const target = { path: exchange.head.url, query: '', routeName: 'test' };
      const inbound = inboundHeaders(fields, common);
      handle(exchange, { isProxied: true, inbound, target } as Parameters<typeof handle>[1]);
    },
    random: systemRandom,
    ...createRefusalWriter({ makeId, failures, clock }),
    refused: none,
    inFlight,
    clock,
    log,
    limits: {
      maxHeaderBytes: 16_384,
      maxHeaderLines: 100,
      headersTimeoutMs: 10_000,
      keepAliveTimeoutMs: 60_000,
      lingerTimeoutMs: 5000,
      stalledTimeoutMs: 60_000,
      maxConnections: 1000,
      maxConnectionsPerAddress: 1000,
      trustedProxies,
      maxConcurrentStreams: 100,
      maxResetsPerMinute: 10_000,
      maxWindowBytes: 64 * 1024 * 1024,
    },
    certificate: undefined,
    servesCleartextHttp2: true,
    cut: none,
    connectionEnded: none,
    internalError(error) {
      throw error;
    },
    connectionCounts: { notAccepted: none, accepted: none, answered: none, unanswered: none },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    stop: () => server.drain(0, 1000),
  };
}
