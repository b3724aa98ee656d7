import { withoutField } from '@gateway/http1/fields/header-fields';
import type { StoredResponse } from './response-vault.ts';
import type { UpstreamResponse, WholeBody } from '../request/upstream-response.ts';

/** The same name as in Stripe's API. An upstream may send it too, so it is not one of the gateway's own fields. */
const MARK = 'Idempotent-Replayed';

/** A stored response as the upstream sent it, marked as a replay. */
export function replayedResponse(response: StoredResponse, body: Buffer): UpstreamResponse {
  const whole: WholeBody = { chunks: body.length === 0 ? [] : [body] };
  return {
    status: response.status,
    statusText: response.statusText,
    // The response to the first request may have been a replay of the upstream itself.
    fields: [...withoutField(response.fields, MARK.toLowerCase()), MARK, 'true'],
    attach: () => whole,
    resume: () => undefined,
    cancel: () => undefined,
  };
}
