import { requestRecord, timing } from '@gateway/shared/test/request-record';
import { expect, it } from '@jest/globals';
import type { components } from '@gateway/client';
import { timelineLines } from './timeline.ts';

type RequestRecord = components['schemas']['RequestRecord'];

const names: Readonly<Record<string, string>> = { ups_2: 'http://b.test' };
const named = { upstream: (id: string) => names[id] ?? id };
const look = { columns: 80, unicode: true, colour: (_style: string, text: string) => text };

function record(changes: Partial<RequestRecord>): RequestRecord {
  const stored: unknown = { ...requestRecord(0), ...changes };
  return stored as RequestRecord;
}

const failedOver = record({
  timing: timing({ gateway_ms: 2, upstream_ms: 398 }),
  upstream: { id: 'ups_2', url: 'http://b.test', region: 'eu' },
  attempts: [
    { upstream: 'ups_1', region: null, started_ms: 0, duration_ms: 100, error: 'reset' },
    { upstream: 'ups_2', region: 'eu', started_ms: 200, duration_ms: 200, status: 200 },
  ],
});

it('draws each attempt where it ran within the request', () => {
  expect(timelineLines(failedOver, named, look)).toEqual([
    '  #  UPSTREAM       REGION  0                            400 ms',
    '  1  ups_1          -       █████████··························  100 ms  reset',
    '  2  http://b.test  eu      ··················█████████████████  200 ms  200',
  ]);
});

it('says why an attempt was retried or not', () => {
  const attempt = { upstream: 'u', region: null, started_ms: 0, duration_ms: 1 };
  const lines = timelineLines(
    record({
      attempts: [
        { ...attempt, error: 'reset', retry: { retried: true, why: 'method_idempotent' } },
        { ...attempt, status: 503, retry: { retried: false, why: 'retry_count_used_up' } },
        { ...attempt, status: 404, retry: { retried: false, why: 'status_not_retried' } },
        {
          ...attempt,
          status: 200,
          grpc_status: 14,
          retry: { retried: false, why: 'upstream_forbids' },
        },
        { ...attempt, status: 200, grpc_status: 5 },
      ],
    }),
    named,
    look,
  );
  expect(lines.slice(1).map((line) => line.split(' ms  ')[1])).toEqual([
    'reset, retried: method_idempotent',
    '503, not retried: retry_count_used_up',
    '404',
    '200 gRPC 14 UNAVAILABLE, not retried: upstream_forbids',
    '200 gRPC 5 NOT_FOUND',
  ]);
});

it('draws without colour, in ASCII, and at least one character', () => {
  const [, first] = timelineLines(
    record({
      attempts: [{ upstream: 'u', region: 'a\u001b[2J', started_ms: 13, duration_ms: 0 }],
    }),
    named,
    { ...look, unicode: false, columns: 20 },
  );
  expect(first).toBe('  1  u         a\\u001b[2J  .........#  0 ms  no status');
});

it('says that a refused request was not sent', () => {
  expect(timelineLines(record({ attempts: [] }), named, look)).toEqual([
    '  The request was not sent to an upstream.',
  ]);
});
