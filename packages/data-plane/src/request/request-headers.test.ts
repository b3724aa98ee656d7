import { describe, expect, it } from '@jest/globals';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { startTestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startUpstream, type SeenRequest } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

async function setUp(route: Partial<SnapshotRoute> = {}, environment: Record<string, string> = {}) {
  const upstream = opened(await startUpstream());
  const gateway = opened(
    await startTestDataPath({ upstreams: [upstream.url], ...route }, { environment }),
  );
  const send = (lines: readonly string[], method = 'GET', body = '') =>
    rawCall(
      gateway.port,
      { method, lines: ['Host: gateway.test', ...lines], body },
      route.auth?.type === 'none' ? undefined : gateway.token,
    );
  return { upstream, gateway, send };
}

/** The values of the fields that arrived with this name, in any case and with dashes or underscores. */
function arrived(seen: SeenRequest | undefined, name: string): string[] {
  const { rawHeaders = [] } = seen ?? {};
  return rawHeaders.filter(
    (_text, index) =>
      rawHeaders[index - 1]?.toLowerCase().replaceAll(/[-_]+/g, '-') === name && index % 2 === 1,
  );
}

// test/conformance has the fields that are dropped, replaced or refused.
describe('request headers', () => {
  it('are forwarded unchanged: case, order, repeats, inner spaces and bytes beyond ASCII', async () => {
    const { upstream, send } = await setUp();
    const lines = ['X-CaSe: a  b', 'x-twice: 1', 'X-Other: \xe9\xff\x80', 'X-Twice: 2', 'X-Empty:'];
    await send([...lines, 'Accept-Encoding: gzip', 'Cookie: a=1; b="2"', 'User-Agent: test']);
    const [seen] = upstream.seen;
    expect(seen?.rawHeaders.slice(0, 18).filter((_text, index) => index < 18)).toEqual([
      ...['host', new URL(upstream.url).host],
      ...[
        'X-CaSe',
        'a  b',
        'x-twice',
        '1',
        'X-Other',
        '\xe9\xff\x80',
        'X-Twice',
        '2',
        'X-Empty',
        '',
      ],
      ...['Accept-Encoding', 'gzip', 'Cookie', 'a=1; b="2"', 'User-Agent', 'test'],
    ]);
  });

  it('contain the identity of the caller as the gateway knows it, not as the caller claims it', async () => {
    const { upstream, gateway, send } = await setUp();
    const response = await send([
      ...[
        'X-Forwarded-For: 203.0.113.9',
        'X_Forwarded_For: 203.0.113.9',
        'X-Forwarded-Proto: https',
      ],
      ...['X-Forwarded-Host: evil.test', 'X_Forwarded-Host: evil.test', 'X-Request-Id: mine'],
      ...['X_Request_Id: mine', 'Via: 1.0 fred'],
    ]);
    const [seen] = upstream.seen;
    const id = response.headers.get('x-request-id');
    expect(arrived(seen, 'x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(arrived(seen, 'x-forwarded-proto')).toEqual(['http']);
    expect(arrived(seen, 'x-forwarded-host')).toEqual(['gateway.test']);
    expect(arrived(seen, 'x-request-id')).toEqual([id]);
    expect(arrived(seen, 'via')).toEqual(['1.0 fred']);
    expect(arrived(seen, 'cdn-loop')).toEqual(['gateway']);
    expect(await gateway.recordOf(response)).toMatchObject({ id, client_request_id: 'mine' });
  });

  it('contain only one form of the idempotency key, because the gateway does not guard any other', async () => {
    const { upstream, send } = await setUp();
    await send(['Idempotency_Key: alias'], 'POST');
    await send(['Idempotency-Key: order', 'IDEMPOTENCY_key: alias'], 'POST');
    expect(arrived(upstream.seen[0], 'idempotency-key')).toEqual([]);
    expect(arrived(upstream.seen[1], 'idempotency-key')).toEqual(['order']);
  });

  it('use what a trusted proxy says about the caller', async () => {
    const { upstream, send } = await setUp({}, { TRUSTED_PROXIES: '127.0.0.1' });
    const lines = ['X-Forwarded-Proto: https', 'X-Forwarded-Host: shop.test'];
    await send([...lines, 'X-Forwarded-For: 203.0.113.9', 'X-Forwarded-For: 198.51.100.4']);
    const [seen] = upstream.seen;
    expect(arrived(seen, 'x-forwarded-for')).toEqual(['203.0.113.9, 198.51.100.4, 127.0.0.1']);
    expect(arrived(seen, 'x-forwarded-proto')).toEqual(['https']);
    expect(arrived(seen, 'x-forwarded-host')).toEqual(['shop.test']);
  });

  it.each(['Bearer @', 'Token token="@"'])(
    'never contain a token of the gateway, even if it was sent as %s',
    async (form) => {
      const open = await setUp({ auth: { type: 'none' } });
      for (const token of [open.gateway.token, createTokenSecret()]) {
        await open.send([`Authorization: ${form.replace('@', token)}`]);
      }
      expect(open.upstream.seen).toHaveLength(2);
      for (const seen of open.upstream.seen) {
        expect(seen.rawHeaders.join('\n')).not.toContain('gwt_');
      }
    },
  );

  it('never contain one that is user or password', async () => {
    const open = await setUp({ auth: { type: 'none' } });
    const { token } = open.gateway;
    for (const pair of [`${token}:`, `user:${token}`]) {
      const encoded = Buffer.from(pair).toString('base64');
      await open.send([`Authorization: Basic ${encoded}`]);
    }
    expect(open.upstream.seen.map((seen) => arrived(seen, 'authorization'))).toEqual([[], []]);
  });

  it('continue a valid trace and replace an invalid one', async () => {
    const { upstream, gateway, send } = await setUp();
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const response = await send([
      `traceparent: 00-${trace}-00f067aa0ba902b7-00`,
      'tracestate: a=b',
      'Tracestate: c=d',
    ]);
    const [seen] = upstream.seen;
    expect(arrived(seen, 'traceparent')[0]).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-00$`));
    expect(arrived(seen, 'traceparent')[0]).not.toContain('00f067aa0ba902b7');
    expect(arrived(seen, 'tracestate')).toEqual(['a=b, c=d']);
    expect(await gateway.recordOf(response)).toMatchObject({ trace_id: trace });
    const invalid = [
      `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
      `ff-${trace}-00f067aa0ba902b7-01`,
      'x',
    ];
    for (const traceparent of invalid) {
      const begun = await gateway.recordOf(
        await send([`traceparent: ${traceparent}`, 'tracestate: a=b']),
      );
      expect(arrived(upstream.seen.at(-1), 'tracestate')).toEqual([]);
      const [sent] = arrived(upstream.seen.at(-1), 'traceparent');
      expect(sent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      expect(sent).toContain(begun.trace_id);
      expect(begun.trace_id).not.toBe(trace);
    }
  });

  it('that differ from another of its name are refused, and the error names it', async () => {
    const { send } = await setUp();
    const answer = await send(['Idempotency-Key: one', 'Idempotency-Key: two']);
    const error = await expectRefusal(answer, 400, 'invalid_request');
    expect(error.details).toEqual([{ path: 'idempotency-key', message: 'must be sent once' }]);
  });

  it('begin a new trace if the caller sent two', async () => {
    const { upstream, gateway, send } = await setUp();
    const traces = ['4bf92f3577b34da6a3ce929d0e0e4736', '0af7651916cd43dd8448eb211c80319c'];
    const lines = traces.map((trace) => `traceparent: 00-${trace}-00f067aa0ba902b7-01`);
    // The third equals the first; the first must not count because of that.
    const response = await send([...lines, lines[0] ?? '', 'tracestate: a=b']);
    expect(response.status).toBe(200);
    const { trace_id: trace } = await gateway.recordOf(response);
    expect(traces).not.toContain(trace);
    const [sent, ...more] = arrived(upstream.seen[0], 'traceparent');
    expect([sent?.slice(3, 35), more]).toEqual([trace, []]);
    expect(arrived(upstream.seen[0], 'tracestate')).toEqual([]);
  });

  it('continue a trace that the caller sent twice', async () => {
    const { gateway, send } = await setUp();
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const line = `traceparent: 00-${trace}-00f067aa0ba902b7-01`;
    expect(await gateway.recordOf(await send([line, line]))).toMatchObject({ trace_id: trace });
  });

  it('leave the request id of the caller unknown if it sent two, and keep it if they are equal', async () => {
    const { gateway, send } = await setUp();
    const two = await send(['X-Request-Id: one', 'X-Request-Id: two', 'X-Request-Id: one']);
    expect(await gateway.recordOf(two)).toMatchObject({ client_request_id: null, status: 200 });
    const equal = await send(['X-Request-Id: one', 'x-request-id: one']);
    expect(await gateway.recordOf(equal)).toMatchObject({ client_request_id: 'one' });
  });

  it.each(['X-Forwarded-Proto', 'X-Forwarded-Host'])(
    'do not depend on two different %s, unless a trusted proxy sent them',
    async (name) => {
      const lines = [`${name}: http`, `${name}: https`];
      const { upstream, send } = await setUp();
      expect((await send(lines)).status).toBe(200);
      expect(arrived(upstream.seen[0], 'x-forwarded-proto')).toEqual(['http']);
      expect(arrived(upstream.seen[0], 'x-forwarded-host')).toEqual(['gateway.test']);
      const behind = await setUp({}, { TRUSTED_PROXIES: '127.0.0.1' });
      const error = await expectRefusal(await behind.send(lines), 400, 'invalid_request');
      expect(error.details).toMatchObject([{ path: name.toLowerCase() }]);
      const equal = [`${name}: https`, `${name}: https`];
      expect((await behind.send(equal)).status).toBe(200);
      expect(arrived(behind.upstream.seen[0], name.toLowerCase())).toEqual(['https']);
    },
  );

  it('go on as they came, each line of a list, beside another header that is sent twice', async () => {
    const { upstream, send } = await setUp();
    const via = ['Via: 1.1 one', 'Via: 1.1 other', 'Via: 1.1 one'];
    expect((await send(['X-API-Key: theirs', ...via, 'x-api-key: theirs'])).status).toBe(200);
    expect(arrived(upstream.seen[0], 'via')).toEqual(['1.1 one', '1.1 other', '1.1 one']);
    expect(arrived(upstream.seen[0], 'x-api-key')).toEqual(['theirs']);
  });

  it('go on as they came if they have no meaning: Max-Forwards of a GET', async () => {
    const { upstream, send } = await setUp();
    expect((await send(['Max-Forwards: 3', 'Max-Forwards: 5'])).status).toBe(200);
    expect(arrived(upstream.seen[0], 'max-forwards')).toEqual(['3', '5']);
  });
});
