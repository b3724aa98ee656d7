import { filterFields } from '@gateway/http/fields/header-fields';
import { DEFAULT_METHODS } from '@gateway/shared/http/methods';
import { refuseField } from './check-head.ts';
import type { RequestContext } from './context.ts';
import { answerFixed } from './fixed-answer.ts';
import { forwardedFields } from './inbound-headers.ts';
import { NO_CONTENT, type Reply, type Stage } from './stage.ts';

const FIELD = 'max-forwards';
const NUMBER = /^\d{1,9}$/;

/* The answers that the gateway gives itself. They count as requests, so they come after the quota. */

/** Answers as the route says, if it has no service. */
export function createAnswer(): Stage {
  return (ctx) => {
    const answer = ctx.route?.answer;
    return answer === undefined ? undefined : answerFixed(ctx, answer);
  };
}

/**
 * Answers an OPTIONS request with `Max-Forwards: 0` itself and otherwise decrements the field (RFC 9110
 * section 7.6.2). For other methods the field has no meaning.
 */
export function createMaxForwards(): Stage {
  return (ctx) => {
    if (ctx.method !== 'OPTIONS') return undefined;
    const fields = filterFields(
      forwardedFields(ctx.inbound),
      (name) => name.toLowerCase() === FIELD,
    );
    const value = fields[1];
    if (value === undefined) return undefined;
    if (filterFields(fields, (_name, other) => other !== value).length > 0) {
      throw refuseField(FIELD, 'must be sent once');
    }
    if (!NUMBER.test(value)) throw refuseField(FIELD, 'must be a number');
    if (Number(value) === 0) return optionsOf(ctx);
    ctx.maxForwards = Number(value) - 1;
    return undefined;
  };
}

/** Lists the methods of the route (RFC 9110 section 9.3.7). */
function optionsOf(ctx: RequestContext): Reply {
  const methods = [...(ctx.route?.methods ?? DEFAULT_METHODS)];
  return {
    status: 204,
    statusText: 'No Content',
    fields: ['Allow', methods.join(', ')],
    body: NO_CONTENT,
  };
}
