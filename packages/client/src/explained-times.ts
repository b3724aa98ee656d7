import type { components } from './client.ts';

type Timeouts = NonNullable<components['schemas']['Explanation']['timeouts']>;

/** How long a request may take, and each attempt: of the time-outs in an explanation. */
export function deadlineText(timeouts: Timeouts): string {
  const attempt = timeouts.per_attempt_timeout_ms;
  return `${totalText(timeouts)}, ${attempt === null ? 'no limit' : `${attempt} ms`} per attempt`;
}

function totalText({ timeout_ms: own, caller_timeout_ms: callers, streaming }: Timeouts): string {
  if (streaming) {
    const end = callers === null ? '' : `, ${callers} ms in total (grpc-timeout)`;
    return `${own} ms until it is sent${end}`;
  }
  if (callers === null || callers > own) return `${own} ms in total`;
  return `${callers} ms in total (grpc-timeout; the route allows ${own} ms)`;
}

/** What bounds the body of the request, and the silence of both: of the time-outs in an explanation. */
export function bodyTimesText(timeouts: Timeouts): string {
  const { max_upload_ms, min_upload_bytes_per_second, body_idle_timeout_ms } = timeouts;
  const messages = timeouts.max_message_bytes;
  const size = messages === null ? '' : `, messages up to ${messages} bytes`;
  if (timeouts.streaming) return `${body_idle_timeout_ms} ms of silence in both directions${size}`;
  const silence = `${body_idle_timeout_ms} ms of silence`;
  if (max_upload_ms === null) return silence;
  return `upload ${max_upload_ms} ms, ${min_upload_bytes_per_second} bytes/s or more; ${silence}`;
}
