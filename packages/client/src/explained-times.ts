import { amountText } from './amounts.ts';
import type { components } from './client.ts';

const msText = (ms: number) => amountText(ms, 'ms');

type Timeouts = NonNullable<components['schemas']['Explanation']['timeouts']>;

/** How long a request may take, and each attempt: of the time-outs in an explanation. */
export function deadlineText(timeouts: Timeouts): string {
  const attempt = timeouts.per_attempt_timeout_ms;
  return `${totalText(timeouts)}, ${attempt === null ? 'no limit' : msText(attempt)} per attempt`;
}

function totalText({ timeout_ms: own, caller_timeout_ms: callers, streaming }: Timeouts): string {
  if (streaming) {
    const end = callers === null ? '' : `, ${msText(callers)} in total (grpc-timeout)`;
    return `${msText(own)} until it is sent${end}`;
  }
  if (callers === null || callers > own) return `${msText(own)} in total`;
  return `${msText(callers)} in total (grpc-timeout; the route allows ${msText(own)})`;
}

/** What bounds the body of the request, and the silence of both: of the time-outs in an explanation. */
export function bodyTimesText(timeouts: Timeouts): string {
  const { max_upload_ms, min_upload_bytes_per_second, body_idle_timeout_ms } = timeouts;
  const messages = timeouts.max_message_bytes;
  const size = messages === null ? '' : `, messages up to ${amountText(messages, 'bytes')}`;
  if (timeouts.streaming)
    return `${msText(body_idle_timeout_ms)} of silence in both directions${size}`;
  const silence = `${msText(body_idle_timeout_ms)} of silence`;
  if (max_upload_ms === null) return silence;
  const rate = amountText(min_upload_bytes_per_second ?? 0, 'bytes per second');
  return `upload ${msText(max_upload_ms)}, ${rate} or more; ${silence}`;
}
