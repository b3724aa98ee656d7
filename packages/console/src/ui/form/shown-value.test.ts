import { expect, it } from '@jest/globals';
import { ROUTE_FORM } from '@gateway/client/form-fields';
import { shownValue } from './shown-value.ts';

it.each<[string, unknown, string]>([
  ['timeout_ms', 90_000, '90 s'],
  ['rate_limit.window_seconds', 3600, '1 h'],
  ['rate_limit.limit', 60_000, '60,000'],
  ['rate_limit.per', 'token', 'Each caller'],
  ['max_body_bytes', 10_485_760, '10 MiB'],
  ['streaming', true, 'on'],
  ['retry.on_statuses', [502, 503], '502, 503'],
  ['regions', [], 'none'],
  ['versions', [{ name: 'v1', service_id: 'svc_1', weight: 90 }], 'v1 svc_1 90'],
  ['affinity', null, 'none'],
  ['nothing.like.it', 'a\u202Eb', String.raw`a\u202Eb`],
])('%s of %j is shown as %s', (path, value, text) => {
  expect(shownValue(path, value, ROUTE_FORM)).toBe(text);
});
