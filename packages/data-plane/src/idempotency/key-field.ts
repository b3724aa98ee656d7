import { readKeyField } from '@gateway/shared/http/idempotency-key';
import { refuseField } from '../request/check-head.ts';
import type { RequestContext } from '../request/context.ts';
import type { KeyResult } from '../request/key-results.ts';
import { sendsIdempotencyKey } from '../request/inbound-headers.ts';
import type { CompiledRoute } from '../routing-table/routing-table.ts';

const FIELD = 'idempotency-key';

/**
 * Parses an `Idempotency-Key` field; see `readKeyField`.
 *
 * @throws GatewayError `invalid_request`, which never contains the key
 */
export function parseIdempotencyKey(value: string): string {
  const read = readKeyField(value);
  if (read.fault !== undefined) throw refuseField(FIELD, read.fault);
  return read.key;
}

/** Counts a request with a key. */
export type CountKey = (result: KeyResult) => void;

/**
 * Leaves the key of a request to the upstream, on a route whose `idempotency.mode` is `off`. The gateway neither checks
 * nor stores it.
 *
 * @throws GatewayError `invalid_request` if the route requires a key and the upstream would get none
 */
export function passKeyOn(ctx: RequestContext, route: CompiledRoute, count: CountKey): void {
  if (sendsIdempotencyKey(ctx.inbound)) {
    ctx.idempotency = 'passed_on';
    count('passed_on');
  } else if (route.idempotency.required) throw keyRequired(route);
}

/** The error for a request without a key if the route requires one. */
export function keyRequired(route: CompiledRoute): Error {
  return refuseField(FIELD, `is required by the route ${route.name}`);
}
