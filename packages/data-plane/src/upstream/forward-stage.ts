import type { RequestContext } from '../request/context.ts';
import type { ResponseReceiver } from '../request/upstream-response.ts';
import { Forwarding } from './forwarding.ts';
import type { ForwardingOptions } from './forwarding-options.ts';
import type { CompiledMirror } from '../routing-table/compile-mirror.ts';
import type { CompiledRoute, CompiledService } from '../routing-table/routing-table.ts';
import type { RetryBudgets } from './retry-budget.ts';

/** Makes copies of requests for the mirrors of their routes. Neither throws, or waits for anything. */
export interface CopyMaker {
  /** A request of a route with a mirror is about to be forwarded. */
  begin(ctx: RequestContext, route: CompiledRoute, mirror: CompiledMirror<CompiledService>): void;
  /** A request of such a route leaves HTTP. */
  leavesHttp(route: CompiledRoute): void;
}

export interface ForwardOptions extends ForwardingOptions {
  readonly retryBudgets: RetryBudgets;
  readonly mirrors: CopyMaker;
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
    if (route.mirror !== undefined) options.mirrors.begin(ctx, route, route.mirror);
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
    if (route.mirror !== undefined) options.mirrors.leavesHttp(route);
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
      expired(attempts) {
        receiver.expired(attempts);
      },
    }).start();
  };
}
