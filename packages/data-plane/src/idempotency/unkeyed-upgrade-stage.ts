import { refuseField } from '../request/check-head.ts';
import type { Stage } from '../request/stage.ts';

/**
 * Refuses an upgrade that carries an `Idempotency-Key`, or whose route asks for one: what goes over
 * an upgraded connection is no request that could be run once, and to pass the key over would let the
 * caller believe that it guards something.
 */
export function createUnkeyedUpgrade(): Stage {
  return (ctx) => {
    if (ctx.inbound.idempotencyKey !== undefined) {
      throw refuseField('idempotency-key', 'must not be sent with an upgrade');
    }
    if (ctx.route?.idempotency.required === true) {
      throw refuseField('upgrade', 'is not taken by a route that asks for idempotency keys');
    }
    return undefined;
  };
}
