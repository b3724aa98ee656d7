import { refuseField } from './check-head.ts';
import { PROXY_METHODS } from './proxy-path.ts';
import type { RequestContext } from './context.ts';
import type { Stage } from './stage.ts';
import type { UpstreamResponse } from './upstream-response.ts';

const FIELD = 'max-forwards';
const NUMBER = /^\d{1,9}$/;

/**
 * Answers OPTIONS for the gateway itself where `Max-Forwards` says that it may go no further, and else
 * counts one off it (RFC 9110 section 7.6.2); for other methods the field means nothing. Runs after the
 * quota, as what the gateway answers itself is to be paid for as well.
 */
export function createMaxForwards(): Stage {
  return (ctx) => {
    if (ctx.method !== 'OPTIONS') return undefined;
    const { endToEnd } = ctx.inbound;
    let left: number | undefined;
    for (let index = 0; index < endToEnd.length; index += 2) {
      if (endToEnd[index]?.toLowerCase() !== FIELD) continue;
      const value = endToEnd[index + 1] ?? '';
      if (left !== undefined) throw refuseField(FIELD, 'must be sent once');
      if (!NUMBER.test(value)) throw refuseField(FIELD, 'must be a number');
      left = Number(value);
      endToEnd[index + 1] = String(left - 1);
    }
    return left === 0 ? { response: optionsOf(ctx) } : undefined;
  };
}

/** RFC 9110 section 9.3.7: what the route takes. */
function optionsOf(ctx: RequestContext): UpstreamResponse {
  const methods = [...(ctx.route?.methods ?? PROXY_METHODS)];
  return {
    status: 204,
    statusText: 'No Content',
    fields: ['Allow', methods.join(', ')],
    attach: () => ({ chunks: [] }),
    resume: () => undefined,
    cancel: () => undefined,
  };
}
