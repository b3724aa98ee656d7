import { constants } from 'node:http2';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startUpstream } from '@gateway/shared/test/upstream';
import { answerOk, startHttp2Upstream, type ArrivedStream } from '../../test/http2-upstream.ts';
import {
  certificate,
  startBoth,
  startHttp1,
  startProtocolPath,
  type Protocol,
} from '../../test/protocol-world.ts';

const opened = closeAfterEach();
const open = async (...args: Parameters<typeof startProtocolPath>) =>
  opened(await startProtocolPath(...args));

describe('the protocol to upstreams', () => {
  it.each<[Protocol, string]>([
    ['http1', '1.1'],
    ['http2', '2.0'],
    ['auto', '2.0'],
  ])('is with %s HTTP/%s to a server with TLS that speaks both', async (protocol, version) => {
    const upstream = opened(await startBoth());
    const { call } = await open([upstream.url], protocol);
    const response = await call();
    expect([response.status, await response.text()]).toEqual([200, 'ok']);
    expect(upstream.seen).toMatchObject([{ version }]);
  });

  it.each(['refuses', 'chooses nothing'] as const)(
    'is with auto HTTP/1.1 to a server with TLS that speaks only that, and %s otherwise',
    async (kind) => {
      const upstream = opened(await startHttp1(kind));
      const { call } = await open([upstream.url], 'auto');
      const responses = await Promise.all([call(), call(), call()]);
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(upstream.seen.map(({ version }) => version)).toEqual(['1.1', '1.1', '1.1']);
    },
  );

  it('is with auto HTTP/1.1 to a server without TLS', async () => {
    const upstream = opened(await startUpstream());
    const { call } = await open([upstream.url], 'auto');
    expect((await call()).status).toBe(200);
    expect(upstream.seen).toHaveLength(1);
  });

  it('is HTTP/2 with http2 also to a server without TLS', async () => {
    const upstream = opened(await startHttp2Upstream());
    const { call } = await open([upstream.url], 'http2');
    expect((await call()).status).toBe(200);
    expect(upstream.arrived).toHaveLength(1);
  });

  it.each(['refuses', 'chooses nothing'] as const)(
    'is nothing else with http2: a server with TLS that %s gets no request',
    async (kind) => {
      const upstream = opened(await startHttp1(kind));
      const { call, gateway } = await open([upstream.url], 'http2');
      const response = await call();
      await expectRefusal(response, 502, 'upstream_unavailable');
      expect(upstream.seen).toEqual([]);
      const { attempts, outcome } = await gateway.recordOf(response);
      expect(outcome).toBe('upstream_unavailable');
      expect(attempts).toMatchObject([{ error: 'http2_not_chosen' }]);
    },
  );

  it.each([
    ['http1', 'speaks_http2', 'speaks HTTP/2 and got HTTP/1.1', startHttp2Upstream],
    ['auto', 'speaks_http2', 'speaks HTTP/2 and got HTTP/1.1', startHttp2Upstream],
    ['http2', 'speaks_http1', 'speaks HTTP/1.1 and got HTTP/2', startUpstream],
  ] as const)(
    'that is %s to a server without TLS of the other version fails as %s',
    async (protocol, error, message, start) => {
      const upstream = opened(await start());
      const { call, gateway } = await open([upstream.url], protocol);
      const response = await call();
      await expectRefusal(response.clone(), 502, 'upstream_unavailable');
      expect(await response.text()).toContain(
        `The upstream of the route test ${message}, as protocol of its service says.`,
      );
      const { attempts } = await gateway.recordOf(response);
      expect(attempts).toMatchObject([{ error }]);
    },
  );
});

describe('a response over HTTP/2', () => {
  it.each([
    [200, 'OK'],
    [404, 'Not Found'],
    [299, ''],
  ])('gives a caller over HTTP/1.1 with %i the reason phrase "%s"', async (status, phrase) => {
    const answer = ({ stream }: ArrivedStream) => {
      stream.respond({ ':status': status });
      stream.end();
    };
    const upstream = opened(await startHttp2Upstream({ answer }));
    const { call } = await open([upstream.url], 'http2');
    const response = await call();
    expect([response.status, response.statusText]).toEqual([status, phrase]);
  });
});

describe('an upstream over HTTP/2', () => {
  it('that restarts fails no POST that it did not process, without any retries', async () => {
    const CALLS = 40;
    const PROCESSED = 15;
    const processed: number[] = [];
    const answer = (one: ArrivedStream) => {
      if (one.connection > 1) {
        processed.push(one.connection);
        answerOk(one);
        return;
      }
      const first = upstream.arrived.filter(({ connection }) => connection === 1);
      // The first call shows how many streams a connection takes.
      if (first.length === 1) answerOk(one);
      if (first.length < CALLS + 1) return;
      const last = first[PROCESSED];
      one.stream.session?.goaway(constants.NGHTTP2_NO_ERROR, last?.stream.id);
      for (const each of first.slice(1, PROCESSED + 1)) {
        processed.push(each.connection);
        answerOk(each);
      }
    };
    const upstream = opened(await startHttp2Upstream({ answer }));
    const { gateway, post } = await open([upstream.url], 'http2');
    await (await post('first')).text();
    const responses = await Promise.all(
      Array.from({ length: CALLS }, (_, index) => post(`${index}`)),
    );
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    expect(processed.filter((connection) => connection === 1)).toHaveLength(PROCESSED);
    expect(processed).toHaveLength(CALLS);
    const records = await Promise.all(responses.map((response) => gateway.recordOf(response)));
    const sentAgain = records.filter(({ attempts }) => attempts.length === 2);
    expect(sentAgain).toHaveLength(CALLS - PROCESSED);
    for (const { attempts } of sentAgain) {
      expect(attempts).toMatchObject([{ error: 'goaway' }, { status: 200 }]);
    }
  });

  it('that refuses a stream gets the POST again as a retry', async () => {
    const answer = (one: ArrivedStream) => {
      if (upstream.arrived.length > 1) answerOk(one);
      else one.stream.close(constants.NGHTTP2_REFUSED_STREAM);
    };
    const upstream = opened(await startHttp2Upstream({ answer }));
    const { gateway, post } = await open([upstream.url], 'http2', { retry_count: 1 });
    const response = await post('once');
    expect(response.status).toBe(200);
    expect(await gateway.recordOf(response)).toMatchObject({
      retry_count: 1,
      attempts: [{ error: 'refused_stream' }, { status: 200 }],
    });
  });

  it('is checked over HTTP/2, over a connection of its own', async () => {
    const upstream = opened(await startHttp2Upstream({ certificate }));
    const { call } = await open([upstream.url], 'http2', {}, { healthChecks: true });
    expect((await call()).status).toBe(200);
    const isCheck = ({ headers }: ArrivedStream) =>
      headers['user-agent'] === 'gateway-health-check';
    await eventually(() => expect(upstream.arrived.some(isCheck)).toBe(true));
    const check = upstream.arrived.find(isCheck);
    const request = upstream.arrived.find((one) => !isCheck(one));
    expect(check?.headers[':path']).toBe('/healthz');
    expect(request?.connection).not.toBe(check?.connection);
    // No connection is kept for the next check.
    await eventually(() => expect(upstream.sessions.size).toBe(1));
  });

  it('is ejected after 5 failures', async () => {
    const reset = ({ stream }: ArrivedStream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    const failing = opened(await startHttp2Upstream({ answer: reset }));
    const good = opened(await startHttp2Upstream());
    const { gateway, post } = await open([failing.url, good.url], 'http2');
    for (let made = 0; made < 40; made += 1) await (await post('one')).text();
    expect(failing.arrived).toHaveLength(5);
    expect(good.arrived).toHaveLength(35);
    expect(await gateway.registry.metrics()).toContain('gateway_upstreams{health="ejected"} 1\n');
  });
});
