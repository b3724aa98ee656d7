import { describe, expect, it } from '@jest/globals';
import { CLIENT_END_REASONS } from '@gateway/http/http2/client/options';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';
import { answerOk, startHttp2Upstream, type ArrivedStream } from '../../test/http2-upstream.ts';
import { startProtocolPath } from '../../test/protocol-world.ts';
import { MAX_RESETS } from './shared-connections.ts';

const opened = closeAfterEach();

type World = Awaited<ReturnType<typeof startProtocolPath>>;

async function start(...args: Parameters<typeof startProtocolPath>) {
  const world = opened(await startProtocolPath(...args));
  const shows = (series: string) =>
    eventually(async () => {
      expect(await world.gateway.registry.metrics()).toContain(`\n${series}\n`);
    });
  return { ...world, shows };
}

const callAll = async ({ call }: Pick<World, 'call'>, count: number) => {
  const responses = await Promise.all(Array.from({ length: count }, () => call()));
  for (const response of responses) await response.text();
};

describe('the metrics of connections to upstreams', () => {
  it('count those of HTTP/2 and what they carry', async () => {
    const waiting: ArrivedStream[] = [];
    const answer = (one: ArrivedStream) => void waiting.push(one);
    const upstream = opened(await startHttp2Upstream({ answer }));
    const world = await start([upstream.url], 'http2');
    await world.shows('gateway_upstream_streams 0');
    const called = callAll(world, 3);
    await eventually(() => expect(waiting.length).toBe(3));
    await world.shows('gateway_upstream_streams 3');
    await world.shows('gateway_upstream_connections{protocol="http2"} 1');
    await world.shows('gateway_upstream_connections{protocol="http1"} 0');
    for (const one of waiting) answerOk(one);
    await called;
    await world.shows('gateway_upstream_streams 0');
    for (const session of upstream.sessions) session.destroy();
    await world.shows('gateway_upstream_connections{protocol="http2"} 0');
  });

  it('count those that are replaced because callers cancelled many requests', async () => {
    const waiting: ArrivedStream[] = [];
    const answer = (one: ArrivedStream) => void waiting.push(one);
    const upstream = opened(await startHttp2Upstream({ answer }));
    const world = await start([upstream.url], 'http2');
    const leave = new AbortController();
    const init = { signal: leave.signal };
    const left = Promise.allSettled(Array.from({ length: MAX_RESETS }, () => world.call(init)));
    await eventually(() => expect(waiting.length).toBe(MAX_RESETS));
    leave.abort();
    await left;
    await world.shows('gateway_upstream_streams 0');
    await world.shows('gateway_upstream_connections_ended_total{reason="HTTP2_RESETS"} 0');
    const called = callAll(world, 1);
    await eventually(() => expect(waiting.length).toBe(MAX_RESETS + 1));
    for (const one of waiting) answerOk(one);
    await called;
    await world.shows('gateway_upstream_connections_ended_total{reason="HTTP2_RESETS"} 1');
    expect(upstream.connections).toBe(2);
  });

  it('count those of HTTP/1.1', async () => {
    const upstream = opened(await startUpstream());
    const world = await start([upstream.url], 'http1');
    await callAll(world, 1);
    await world.shows('gateway_upstream_connections{protocol="http1"} 1');
    await world.shows('gateway_upstream_streams 0');
    await upstream.close();
    await world.shows('gateway_upstream_connections{protocol="http1"} 0');
  });

  it('count those of HTTP/2 that end because of their server, from 0', async () => {
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket.once('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
      }),
    );
    const world = await start([upstream.url], 'http2');
    for (const reason of CLIENT_END_REASONS) {
      await world.shows(`gateway_upstream_connections_ended_total{reason="${reason}"} 0`);
    }
    expect((await world.call()).status).toBe(502);
    await world.shows('gateway_upstream_connections_ended_total{reason="HTTP2_INVALID_FRAME"} 1');
    await world.shows('gateway_upstream_connections{protocol="http2"} 0');
  });
});
