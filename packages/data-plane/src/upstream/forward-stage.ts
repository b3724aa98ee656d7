import type { Stage } from '../request/stage.ts';
import { Forwarding, type ForwardingOptions } from './forwarding.ts';
import type { RetryBudgets } from './retry-budget.ts';

export interface ForwardOptions extends ForwardingOptions {
  readonly retryBudgets: RetryBudgets;
}

/**
 * Sends the request to an upstream of the route, and to others while the retry decision allows it. Replies with
 * the response as soon as its head has arrived; the body follows.
 */
export function createForward(options: ForwardOptions): Stage {
  return (ctx) => {
    const { route, version } = ctx;
    if (route === undefined || version === undefined) return undefined;
    const { service } = version;
    const budget = options.retryBudgets.enter(service.id);
    ctx.onFinish(budget.leave);
    return new Forwarding(ctx, route, service, budget, options, undefined).start();
  };
}

/**
 * Forwards a request that switches to this protocol. A tunnel counts as in flight at its upstream while it is open, but
 * in the retry budget of its service only until it is open.
 */
export function createForwardUpgrade(options: ForwardOptions, protocol: 'websocket'): Stage {
  return async (ctx) => {
    const { route, version } = ctx;
    if (route === undefined || version === undefined) return undefined;
    const { service } = version;
    const budget = options.retryBudgets.enter(service.id);
    try {
      return await new Forwarding(ctx, route, service, budget, options, protocol).start();
    } finally {
      budget.leave();
    }
  };
}
