import { withoutField } from '@gateway/http1/fields/header-fields';
import type { StoredAnswer } from './vault.ts';
import type { UpstreamResponse, WholeBody } from '../request/upstream-response.ts';

/** As Stripe's API names it. An upstream may send it too, so it is none of the gateway's own fields. */
const MARK = 'Idempotent-Replayed';

/** A kept answer, given again: as the upstream sent it, and marked as no new one. */
export function storedResponse(answer: StoredAnswer, body: Buffer): UpstreamResponse {
  const whole: WholeBody = { chunks: body.length === 0 ? [] : [body] };
  return {
    status: answer.status,
    statusText: answer.statusText,
    // The upstream may have replayed as well, when it answered the first request.
    fields: [...withoutField(answer.fields, MARK.toLowerCase()), MARK, 'true'],
    attach: () => whole,
    resume: () => undefined,
    cancel: () => undefined,
  };
}
