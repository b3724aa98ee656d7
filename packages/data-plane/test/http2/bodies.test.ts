import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { eventually } from '@gateway/shared/test/eventually';
import { http2Answer, http2Call } from '../http2-call.ts';
import { startSecureDataPath, type SecureDataPath } from '../secure-data-path.ts';

const MAX_RESETS = 20;

let upstream: TestUpstream;
let gateway: SecureDataPath;

beforeEach(async () => {
  upstream = await startUpstream((seen, response) => response.end(seen.body));
  gateway = await startSecureDataPath(
    { upstreams: [upstream.url] },
    { environment: { HTTP2_MAX_RESETS_PER_MINUTE: String(MAX_RESETS) } },
  );
});

afterEach(async () => {
  await gateway.stop();
  await upstream.close();
});

describe('an HTTP/2 request with a body that is answered', () => {
  it.each([1, 1024, 100_000])(
    'is recorded as a success, and does not count as a reset: %i bytes',
    async (bytes) => {
      const session = gateway.connectHttp2();
      const fields = { ':method': 'POST', authorization: `Bearer ${gateway.token}` };
      const count = MAX_RESETS * 2;
      for (let sent = 0; sent < count; sent += 1) {
        const answer = await http2Call(session, fields, 'x'.repeat(bytes));
        expect(answer).toMatchObject({ status: 200, code: 0, complete: true });
        expect(answer.body).toHaveLength(bytes);
      }
      session.destroy();
      await eventually(() => {
        expect(gateway.records).toHaveLength(count);
      });
      expect(new Set(gateway.records.map(({ outcome }) => outcome))).toEqual(new Set(['success']));
    },
  );
});

describe('an HTTP/2 request with an empty body whose end is a frame of its own', () => {
  it.each([
    ['is answered', {}],
    ['with a key, is answered', { 'idempotency-key': 'empty' }],
  ])('%s, whether the frame comes in one read with the head or later', async (_what, key) => {
    const session = gateway.connectHttp2();
    const fields = { ':path': '/v1/proxy/test', authorization: `Bearer ${gateway.token}`, ...key };
    for (const turns of [0, 1, 2]) {
      const stream = session.request({ ':method': 'POST', ...fields }, { endStream: false });
      const answered = http2Answer(stream);
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      stream.end();
      expect(await answered).toMatchObject({ status: 200, code: 0, body: '', complete: true });
    }
    session.destroy();
  });
});

describe('an HTTP/2 request with a body that stops', () => {
  it.each<[string, string, Readonly<Record<string, string>>]>([
    ['within its length', 'is kept for a retry', { 'content-length': '10' }],
    ['without a length', 'is streamed', {}],
  ])(
    'gets 408 after max_upload_ms, and its siblings are served: %s, so it %s',
    async (_a, _b, more) => {
      const slow = await startSecureDataPath({ upstreams: [upstream.url], max_upload_ms: 600 });
      const session = slow.connectHttp2();
      try {
        const fields = { ':path': '/v1/proxy/test', authorization: `Bearer ${slow.token}` };
        const stream = session.request({ ':method': 'POST', ...fields, ...more });
        stream.write('x');
        const answer = await http2Answer(stream);
        expect(answer).toMatchObject({ status: 408, complete: true });
        expect(answer.headers['x-gateway-error']).toBe('request_timeout');
        expect(await http2Call(session, fields)).toMatchObject({ status: 200 });
        expect(upstream.seen.map(({ method }) => method)).toEqual(['GET']);
        await eventually(async () => expect(await slow.inFlight()).toBe(0));
      } finally {
        session.destroy();
        await slow.stop();
      }
    },
  );
});

describe('HTTP/2 responses to many requests at once', () => {
  it('have their own bodies', async () => {
    const session = gateway.connectHttp2();
    const fields = { ':method': 'POST', authorization: `Bearer ${gateway.token}` };
    const bodies = Array.from({ length: 40 }, (_none, index) => `${index};`.repeat(6000));
    const answers = await Promise.all(bodies.map((body) => http2Call(session, fields, body)));
    session.destroy();
    expect(answers.map(({ body }) => body)).toEqual(bodies);
  });
});
