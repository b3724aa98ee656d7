import type { Route } from '../../../api/client.ts';
import type { Policy } from './policy.ts';
import { durationText, sizeText } from './words.ts';

type BodyTimes = Pick<
  Route,
  'max_upload_ms' | 'min_upload_bytes_per_second' | 'body_idle_timeout_ms' | 'streaming'
>;

/** How slowly bodies may come. */
export function explainBodyTimes(route: BodyTimes): Policy {
  const { max_upload_ms: uploadMs, body_idle_timeout_ms: idleMs } = route;
  const { min_upload_bytes_per_second: rate } = route;
  if (route.streaming) {
    return {
      title: 'Slow bodies',
      field: 'max_upload_ms',
      sentences: [
        'Streams may last: the deadline ends when a request is sent, then only silence in both directions ends it.',
        ...(idleMs === null ? [] : [`That silence may last ${durationText(idleMs)}.`]),
      ],
    };
  }
  const atLeast = rate === 0 ? '' : `, and needs ${sizeText(rate)} a second over 30 s`;
  return {
    title: 'Slow bodies',
    field: 'max_upload_ms',
    sentences: [
      `The body of a request may take ${durationText(uploadMs)}${atLeast}. Slower ones get 408.`,
      'The wait for it does not count towards the deadline.',
      ...(idleMs === null ? [] : [`A body may be silent for ${durationText(idleMs)}.`]),
    ],
  };
}
