import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ERROR } from '@gateway/http/test/http2-frames';
import { fuzzSettings, openFuzz } from '@gateway/shared/test/fuzz';
import { rawConnection } from '@gateway/shared/test/raw-client';
import type { RawResponse } from '@gateway/shared/test/raw-response';
import fc from 'fast-check';
import { asHttp1 } from './as-http1.ts';
import { served, type FieldsCase, type Fields } from './fields-case.ts';
import { isIntended } from './intended-differences.ts';
import { REQUESTS, type RandomRequest } from './random-requests.ts';
import type { RecordedRequest } from './recording-upstream.ts';
import { startRig, type ConformanceRig } from './rig.ts';
import { withToken } from './run-case.ts';
import { sendOverHttp2 } from './run-over-http2.ts';

const fuzz = openFuzz<RandomRequest>(new URL('both-protocols.kept.json', import.meta.url), 300);

let rig: ConformanceRig;
beforeAll(async () => void (rig = await startRig({}, { HTTP2_CLEARTEXT: 'on' })));
afterAll(() => rig.close());

let sent = 0;

/** The request as a case, with an id of its own. */
function caseOf(request: RandomRequest): FieldsCase {
  const { method, path, authority, body, lengths } = request;
  sent += 1;
  const length = body === null ? [] : [['content-length', String(body.join('').length)] as const];
  const fields: Fields = [
    [':method', method],
    [':scheme', 'http'],
    [':authority', authority],
    [':path', path],
    ...(request.isAuthorized ? [['authorization', 'Bearer {token}'] as const] : []),
    ...request.fields.map(([name, value]) => [name, value.replace('{id}', `${sent}.`)] as const),
    ...Array.from({ length: lengths }, () => length).flat(),
  ];
  const trailers =
    lengths === 0 && request.trailers.length > 0 ? { trailers: request.trailers } : {};
  const parts = body === null ? {} : { body, ...trailers };
  return { name: path, rule: '', fields, ...parts, result: served(), http1: 'same' };
}

/** Fields that differ for each request, and those of a connection of HTTP/1.1. */
const VARYING = new Set([
  ...['x-request-id', 'traceparent', 'date', 'connection', 'keep-alive'],
  ...['x-gateway-latency', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
]);

/** The values of each name, in their order. */
function comparable(lines: Fields): Record<string, readonly string[]> {
  const found = Map.groupBy(lines, ([name]) => name.toLowerCase());
  const entries = [...found].filter(([name]) => !VARYING.has(name));
  return Object.fromEntries(
    entries.map(([name, all]) => {
      const values = all.map(([, value]) => value.replace(/^key-\d+\.$/, 'key'));
      // HTTP/2 joins what it may send apart (RFC 9113 section 8.2.3).
      return [name, name === 'cookie' ? [values.join('; ')] : values];
    }),
  );
}

function received(requests: readonly RecordedRequest[]) {
  return requests.map(({ method, target, lines, body, trailers }) => {
    return { method, target, body, trailers, fields: comparable(lines) };
  });
}

function answered({ status, rawHeaders, headers, body }: Omit<RawResponse, 'text'>) {
  const lines = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
  );
  const id = headers.get('x-request-id') ?? '';
  return { status, fields: comparable(lines), body: body.toString('latin1').replaceAll(id, 'id') };
}

async function overHttp1(request: RandomRequest) {
  rig.upstream.requests.length = 0;
  const one = asHttp1(caseOf(request));
  const connection = await rawConnection(rig.port);
  try {
    connection.send(withToken(String(one?.send), rig.token));
    let response = await connection.response(request.method);
    while (response.status < 200) response = await connection.response(request.method);
    return { response, upstream: received(rig.upstream.requests) };
  } finally {
    connection.destroy();
  }
}

it('a request has the same result over HTTP/1.1 and HTTP/2, or is malformed over both', async () => {
  const results = { served: 0, refused: 0, malformed: 0, different: 0 };
  await fc.assert(
    fc.asyncProperty(REQUESTS, async (request) => {
      rig.upstream.requests.length = 0;
      const one = caseOf(request);
      const http2 = await sendOverHttp2(rig, one);
      const upstream = received(rig.upstream.requests);
      if (isIntended(one.fields)) {
        expect(http2.resetCode).toBe(ERROR.protocolError);
        results.different += 1;
        return;
      }
      const http1 = await overHttp1(request);
      expect(upstream).toEqual(http1.upstream);
      if (http2.resetCode === undefined) {
        expect(answered(http2)).toEqual(answered(http1.response));
        results[http2.headers.has('x-gateway-error') ? 'refused' : 'served'] += 1;
      } else {
        expect(http2.resetCode).toBe(ERROR.protocolError);
        const { status, headers } = http1.response;
        const code = headers.get('x-gateway-error');
        expect({ status, code }).toEqual({ status: 400, code: 'invalid_request' });
        results.malformed += 1;
      }
    }),
    fuzzSettings(fuzz),
  );
  for (const count of Object.values(results)) expect(count).toBeGreaterThan(0);
}, 60_000);
