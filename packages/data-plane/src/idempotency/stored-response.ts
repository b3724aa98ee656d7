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
    fields: [...withoutMark(answer.fields), MARK, 'true'],
    attach: () => whole,
    resume: () => undefined,
    cancel: () => undefined,
  };
}

/** The upstream may have replayed as well, when it answered the first request. */
function withoutMark(fields: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? '';
    if (name.toLowerCase() !== MARK.toLowerCase()) kept.push(name, fields[index + 1] ?? '');
  }
  return kept;
}
