import { expect, it } from '@jest/globals';
import { valuesOfRequest } from './link-values.ts';

it('a link about a request shows five minutes before and after it', () => {
  const values = valuesOfRequest({
    id: 'req_1',
    trace_id: null,
    environment: 'production',
    route: 'charges',
    route_version: null,
    token_id: null,
    received_at: '2026-03-01T09:00:00.000Z',
    timing: { total_ms: 1500.2 },
  });
  expect(values).toMatchObject({
    request_id: 'req_1',
    from_ms: Date.parse('2026-03-01T08:55:00.000Z'),
    to_ms: Date.parse('2026-03-01T09:05:01.501Z'),
  });
});
