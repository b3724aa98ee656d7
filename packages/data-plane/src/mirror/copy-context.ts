import { filterFields } from '@gateway/http/fields/header-fields';
import { foldedName } from '@gateway/shared/http/headers';
import { SAMPLED, traceparentOf } from '@gateway/shared/opentelemetry/traceparent';
import { RequestContext, type ContextOptions } from '../request/context.ts';
import type { InboundHeaders } from '../request/inbound-headers.ts';
import { EMPTY_BODY } from '../request/request-body.ts';
import type { CompiledMirror } from '../routing-table/compile-mirror.ts';
import type { CompiledService } from '../routing-table/routing-table.ts';

/** Of two services that share a store of keys, the mirror must not take the key of the original. */
const NEVER_COPIED = 'idempotency-key';
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'cookie']);

/**
 * The context of a copy: the same request with an id and a span of its own, to the service of the mirror. It has passed no
 * stage, so it counts to no quota and holds no slot and no key.
 */
export function copyContext(
  original: RequestContext,
  mirror: CompiledMirror<CompiledService>,
  service: CompiledService,
  bodyBytes: number,
  options: ContextOptions,
): RequestContext {
  const { method, httpVersion, framing, authority = '' } = original;
  const url = authority === '' ? '/' : `http://${authority}/`;
  const connection = { address: original.peerAddress, isSecure: original.protocol === 'https' };
  const inbound = copiedHeaders(original, mirror.passCredentials);
  const copy = new RequestContext(
    { head: { method, url, httpVersion, framing }, connection },
    { inbound, target: original.target },
    options,
  );
  copy.kind = 'mirror';
  // All of the time that the caller gives: a copy may be sent long after its original.
  copy.callerDeadlineMs = copy.startedMs + original.callerDeadlineMs - original.startedMs;
  copy.environmentName = original.environmentName;
  copy.environment = original.environment;
  copy.route = original.route;
  copy.version = { name: undefined, service, weight: 1, seed: 0 };
  copy.token = original.token;
  copy.tokenField = original.tokenField;
  copy.jwt = original.jwt;
  copy.rewritten = original.rewritten;
  copy.maxForwards = original.maxForwards;
  // It removes what the gateway added to the id of a session.
  copy.affinity = original.affinity;
  copy.body = { ...EMPTY_BODY, receivedBytes: bodyBytes };
  return copy;
}

function copiedHeaders(
  { inbound, trace }: RequestContext,
  passCredentials: boolean,
): InboundHeaders {
  const raw = filterFields(inbound.raw, (name) => {
    const folded = foldedName(name);
    return folded !== NEVER_COPIED && (passCredentials || !CREDENTIALS.has(folded));
  });
  const { sampled } = trace;
  return {
    ...inbound,
    raw,
    common: undefined,
    idempotencyKey: undefined,
    authorization: passCredentials ? inbound.authorization : undefined,
    apiKey: passCredentials ? inbound.apiKey : undefined,
    // The span of the copy is within that of the request.
    traceparent:
      sampled === undefined
        ? trace.traceparent
        : traceparentOf(trace.traceId, sampled.spanId, SAMPLED),
    tracestate: trace.tracestate,
  };
}
