import type { RequestContext } from '../request/context.ts';
import type { ResponseReceiver } from '../request/upstream-response.ts';
import { Forwarding, type ForwardingOptions } from './forwarding.ts';
import type { RetryBudgets } from './retry-budget.ts';

export interface ForwardOptions extends ForwardingOptions {
  readonly retryBudgets: RetryBudgets;
}

/**
 * What follows the stages: sends the request to an upstream of the route, and to others while the retry decision allows
 * it. The receiver is called once, as soon as the head of the response has arrived, or when there is none.
 */
export type Forward = (ctx: RequestContext, receiver: ResponseReceiver) => void;

export function createForward(options: ForwardOptions): Forward {
  return (ctx, receiver) => {
    const { route, version } = ctx;
    if (route === undefined || version === undefined) throw new Error('the request has no route');
    const { service } = version;
    const budget = options.retryBudgets.enter(service.id);
    ctx.onFinish(budget.leave);
    new Forwarding(ctx, route, service, budget, options, undefined, receiver).start();
  };
}

/**
 * Forwards a request that switches to this protocol. A tunnel counts as in flight at its upstream while it is open, but
 * in the retry budget of its service only until it is open.
 */
export function createForwardUpgrade(options: ForwardOptions, protocol: 'websocket'): Forward {
  return (ctx, receiver) => {
    const { route, version } = ctx;
    if (route === undefined || version === undefined) throw new Error('the request has no route');
    const { service } = version;
    const budget = options.retryBudgets.enter(service.id);
    new Forwarding(ctx, route, service, budget, options, protocol, {
      // A tunnel has no use for them.
      hints: () => undefined,
      responded(response, last) {
        budget.leave();
        return receiver.responded(response, last);
      },
      failed(error) {
        budget.leave();
        receiver.failed(error);
      },
    }).start();
  };
}
