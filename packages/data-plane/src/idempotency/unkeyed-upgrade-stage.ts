import { refuseField } from '../request/check-head.ts';
import type { Stage } from '../request/stage.ts';
import { passKeyOn, type CountKey } from './key-field.ts';

/**
 * Refuses an upgrade that has an `Idempotency-Key`, or whose route requires one. An upgraded connection cannot be run
 * once, and if the key were ignored the caller would believe that it had an effect. A route that leaves keys to its
 * upstream also does so here.
 */
export function createUnkeyedUpgrade(count: CountKey): Stage {
  return (ctx) => {
    const { route, inbound } = ctx;
    if (route?.idempotency.mode === 'off') {
      passKeyOn(ctx, route, count);
      return undefined;
    }
    if (inbound.idempotencyKey !== undefined) {
      throw refuseField('idempotency-key', 'must not be sent with an upgrade');
    }
    if (route?.idempotency.required === true) {
      throw refuseField('upgrade', 'is not possible on a route that requires idempotency keys');
    }
    return undefined;
  };
}
