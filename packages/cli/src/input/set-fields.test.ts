import { ROUTE_FORM } from '@gateway/client/form-fields';
import { expect, it } from '@jest/globals';
import { setFields } from './set-fields.ts';

const set = (...settings: readonly string[]) => setFields({}, settings, { fields: ROUTE_FORM });

it('takes times and sizes with units, also within objects', async () => {
  expect(
    await set(
      'retry.backoff_ms=0.5s',
      'timeout_ms=1m 30s',
      'rate_limit={limit: 100, window_seconds: 1h}',
      'mirror={service_id: svc_1, max_body_bytes: 64 KiB}',
    ),
  ).toEqual({
    retry: { backoff_ms: 500 },
    timeout_ms: 90_000,
    rate_limit: { limit: 100, window_seconds: 3600 },
    mirror: { service_id: 'svc_1', max_body_bytes: 65_536 },
  });
});

it('takes numbers as they are, and texts of fields that are no amounts', async () => {
  expect(await set('timeout_ms=5000', 'body_idle_timeout_ms=null', 'name=1m', 'x=1m')).toEqual({
    timeout_ms: 5000,
    body_idle_timeout_ms: null,
    name: '1m',
    x: '1m',
  });
});

it.each([
  [
    'timeout_ms=1 hor',
    '--set timeout_ms must be a time from 1 ms to 5 min, such as 500ms or 1m; did you mean hour?',
  ],
  [
    'rate_limit={window_seconds: soon}',
    '--set rate_limit.window_seconds must be a time in whole seconds from',
  ],
  ['max_body_bytes=10s', '--set max_body_bytes must be a size from'],
])('%s names the field and the rule', async (setting, message) => {
  await expect(set(setting)).rejects.toThrow(message);
});
