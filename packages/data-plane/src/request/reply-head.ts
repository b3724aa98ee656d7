import type { FixedWindow } from '@gateway/shared/fixed-window';
import { HEADER } from '@gateway/shared/http/headers';
import { byName } from '@gateway/http1/fields/by-name';
import type { RequestContext } from './context.ts';
import { withoutNamed } from './inbound-headers.ts';

/** Fields of a response that end at the gateway: hop-by-hop ones, and names that are the gateway's own. */
const DROPPED = new Set<string>([
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const OWN = new Set<string>(Object.values(HEADER));
const GATEWAY_PREFIX = 'x-gateway-';

/** What becomes of a field of a response by its name: `own` ones an upstream has no say in. */
const handlingOf = byName((rawName): 'connection' | 'dropped' | 'own' | 'passed' => {
  const name = rawName.toLowerCase();
  if (name === 'connection') return name;
  if (DROPPED.has(name)) return 'dropped';
  return OWN.has(name) || name.startsWith(GATEWAY_PREFIX) ? 'own' : 'passed';
});

/** The end-to-end fields of an upstream's response as they came: name, value, name, value. */
export function endToEndFields(raw: readonly string[], dropOwn: boolean): string[] {
  const fields: string[] = [];
  let connection = '';
  for (let index = 0; index < raw.length; index += 2) {
    const rawName = raw[index] ?? '';
    const value = raw[index + 1] ?? '';
    const handling = handlingOf(rawName);
    if (handling === 'connection') connection += `,${value}`;
    else if (handling === 'passed' || (handling === 'own' && !dropOwn)) fields.push(rawName, value);
  }
  return withoutNamed(fields, connection);
}

/** The fields that every response of a data plane carries (DESIGN section 2 "Headers on every response"). */
export function gatewayFields(ctx: RequestContext, window: FixedWindow): string[] {
  return [
    'X-Request-Id',
    ctx.id,
    'X-Gateway-Latency',
    String(Math.round(ctx.gatewayMs)),
    'X-RateLimit-Limit',
    String(window.limit),
    'X-RateLimit-Remaining',
    String(window.remaining),
    'X-RateLimit-Reset',
    String(window.resetSeconds),
  ];
}

/**
 * Time spent in the gateway until now, without the waits for the upstream, for the caller's body and
 * for another request with the same idempotency key.
 */
export function gatewayMsAt(ctx: RequestContext, nowMs: number): number {
  const waitedMs = ctx.upstreamMs + ctx.clientWaitMs + ctx.duplicateWaitMs;
  return Math.max(0, nowMs - ctx.startedMs - waitedMs);
}
