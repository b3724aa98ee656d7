import { refuseField } from '../request/check-head.ts';
import type { Stage } from '../request/stage.ts';

/**
 * Refuses an upgrade that has an `Idempotency-Key`, or whose route requires one. An upgraded connection cannot be run
 * once, and if the key were ignored the caller would believe that it had an effect.
 */
export function createUnkeyedUpgrade(): Stage {
  return (ctx) => {
    if (ctx.inbound.idempotencyKey !== undefined) {
      throw refuseField('idempotency-key', 'must not be sent with an upgrade');
    }
    if (ctx.route?.idempotency.required === true) {
      throw refuseField('upgrade', 'is not possible on a route that requires idempotency keys');
    }
    return undefined;
  };
}
