import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pino, type LevelWithSilent } from 'pino';
import { manualClock } from '@gateway/shared/test/manual-clock';
import type { RequestRecord } from '@gateway/shared/records/record';
import { requestRecord, timing } from '@gateway/shared/test/request-record';
import { createRequestLog, namesText, type LoggedRequest } from './request-log.ts';

const T0 = Date.UTC(2030, 0, 1);

function setUp(level: LevelWithSilent = 'info') {
  const clock = manualClock(T0);
  let text = '';
  const log = pino(
    { base: { 'service.name': 'data-plane' }, level },
    { write: (lines) => void (text += lines) },
  );
  const written = (): unknown[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown);
  return { clock, written, requestLog: createRequestLog(log, clock) };
}

/** A request that got to no part of the configuration. */
function refused(record: RequestRecord): LoggedRequest {
  return { record, names: undefined, service: undefined, upstream: undefined };
}

const microseconds = fc.oneof(fc.nat(3000), fc.nat(2 ** 31 - 1));

test('each request has one line, in order, after a fifth of a second at the latest', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 2 ** 41 }), microseconds, microseconds), {
        maxLength: 100,
      }),
      (times) => {
        const { clock, written, requestLog } = setUp();
        const records = times.map(([ms, gatewayUs, totalUs], index) =>
          requestRecord(ms, {
            route: `"${index}"`,
            error_code: null,
            timing: timing({ gateway_ms: gatewayUs / 1000, upstream_ms: totalUs / 1000 }),
          }),
        );
        for (const record of records) requestLog.add(refused(record));
        clock.advance(200);
        expect(written()).toEqual(
          records.map((record) =>
            expect.objectContaining({
              severity_text: 'INFO',
              severity_number: 9,
              'service.name': 'data-plane',
              body: 'request',
              timestamp: new Date(record.received_at_ms).toISOString(),
              trace_id: record.trace_id,
              'gateway.request.id': record.id,
              'gateway.route.name': record.route,
              'http.response.status_code': 200,
              'gateway.latency_ms': record.timing.gateway_ms,
              'gateway.duration_ms': record.timing.total_ms,
              ...(record.timing.upstream_ms > 0 && {
                'gateway.upstream_ms': record.timing.upstream_ms,
              }),
            }),
          ),
        );
      },
    ),
    { numRuns: 50 },
  );
});

test('a line says what was asked of which service, and how much was sent', () => {
  const { written, requestLog } = setUp();
  const path = '/v1/proxy/echo/"quoted"\\é\u0001';
  const record = requestRecord(T0, {
    path,
    route_version: 'canary',
    retry_count: 0,
    request_bytes: 80,
    response_bytes: 150,
  });
  const upstream = { id: 'ups_1', url: 'https://[::1]:9000/base?' };
  requestLog.add({ record, names: undefined, service: 'payments', upstream });
  requestLog.flush();
  expect(written()).toEqual([
    expect.objectContaining({
      'url.path': path,
      'gateway.route.version': 'canary',
      'gateway.service.name': 'payments',
      'http.request.body.size': 80,
      'http.response.body.size': 150,
      'gateway.upstream.id': 'ups_1',
      'gateway.upstream.url': 'https://[::1]:9000/base?',
      'gateway.retry_count': 0,
    }),
  ]);
});

test('a line has the names of its own version and upstream, made before or with the line', () => {
  const { written, requestLog } = setUp();
  for (const name of ['blue', 'green']) {
    const service = `service-${name}`;
    const record = requestRecord(T0, { route: `route-${name}`, route_version: name });
    const { environment, route } = record;
    const upstream = { id: `ups_${name}`, url: `http://${name}:80` };
    for (const names of [undefined, namesText({ environment, route, version: name, service })]) {
      requestLog.add({ record, names, service, upstream });
    }
  }
  requestLog.flush();
  expect(written()).toEqual(
    ['blue', 'blue', 'green', 'green'].map((name) =>
      expect.objectContaining({
        'gateway.route.name': `route-${name}`,
        'gateway.route.version': name,
        'gateway.service.name': `service-${name}`,
        'gateway.upstream.id': `ups_${name}`,
        'gateway.upstream.url': `http://${name}:80`,
      }),
    ),
  );
});

test('a line of a request that reached no service has no fields of one', () => {
  const { written, requestLog } = setUp();
  requestLog.add(refused(requestRecord(T0, { service_id: null, upstream: null })));
  requestLog.flush();
  const names = written().flatMap((line) => Object.keys(line as object));
  expect(names).toContain('url.path');
  expect(
    names.filter((name) => /^gateway\.(service|upstream\.|route\.version)/.test(name)),
  ).toEqual([]);
});

test('waiting lines are written once when the log is flushed', () => {
  const { clock, written, requestLog } = setUp();
  for (let index = 0; index < 33; index += 1) requestLog.add(refused(requestRecord(T0 + index)));
  requestLog.flush();
  expect(written()).toHaveLength(33);
  clock.advance(1000);
  expect(written()).toHaveLength(33);
});

test('above the level info there are no lines', () => {
  const { clock, written, requestLog } = setUp('warn');
  for (let index = 0; index < 33; index += 1) requestLog.add(refused(requestRecord(T0 + index)));
  clock.advance(1000);
  requestLog.flush();
  expect(written()).toEqual([]);
});

test('a line has the times that are not zero', () => {
  const { clock, written, requestLog } = setUp();
  const times = { receiving_ms: 0.25, waiting_ms: 76.001, upstream_ms: 4.9 };
  requestLog.add(refused(requestRecord(0, { timing: timing(times) })));
  requestLog.add(refused(requestRecord(0)));
  clock.advance(200);
  const [first, second] = written();
  expect(first).toMatchObject({
    'gateway.latency_ms': 1,
    'gateway.receiving_ms': 0.25,
    'gateway.waiting_ms': 76.001,
    'gateway.upstream_ms': 4.9,
    'gateway.duration_ms': 82.151,
  });
  expect(first).not.toHaveProperty(['gateway.sending_ms']);
  expect(second).not.toHaveProperty(['gateway.waiting_ms']);
});
