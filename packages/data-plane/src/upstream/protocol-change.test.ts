import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import {
  snapshotOf,
  startBoth,
  startProtocolPath,
  type AnswerOfBoth,
  type Protocol,
} from '../../test/protocol-world.ts';

const opened = closeAfterEach();
const open = async (...args: Parameters<typeof startProtocolPath>) =>
  opened(await startProtocolPath(...args));

describe('a change of the protocol to upstreams', () => {
  it('applies to new requests, over new connections', async () => {
    const upstream = opened(await startBoth());
    const { call, gateway } = await open([upstream.url], 'http1');
    const twice = async () => {
      for (let made = 0; made < 2; made += 1) await (await call()).text();
    };
    await twice();
    await gateway.use(snapshotOf([upstream.url], 'http2', { version: 2 }));
    await twice();
    await gateway.use(snapshotOf([upstream.url], 'http1', { version: 3 }));
    await twice();
    const { seen } = upstream;
    expect(seen.map(({ version }) => version)).toEqual(['1.1', '1.1', '2.0', '2.0', '1.1', '1.1']);
    const ports = seen.map(({ port }) => port);
    expect(new Set(ports).size).toBe(3);
    expect([ports[1], ports[3], ports[5]]).toEqual([ports[0], ports[2], ports[4]]);
  });

  it.each<[Protocol, Protocol]>([
    ['http1', 'http2'],
    ['http2', 'http1'],
  ])('lets a response over %s end after a change to %s', async (before, after) => {
    const held: Parameters<AnswerOfBoth>[0][] = [];
    const upstream = opened(
      await startBoth((response) => {
        if (held.length > 0) response.end('ok');
        else {
          response.write('be');
          held.push(response);
        }
      }),
    );
    const { call, gateway } = await open([upstream.url], before);
    const slow = await call();
    await gateway.use(snapshotOf([upstream.url], after, { version: 2 }));
    expect(await (await call()).text()).toBe('ok');
    expect(new Set(upstream.seen.map(({ version }) => version))).toEqual(new Set(['1.1', '2.0']));
    expect(upstream.connections()).toBe(2);
    held[0]?.end('gun');
    expect(await slow.text()).toBe('begun');
    // The connection of the protocol before closes with its last request.
    await eventually(() => expect(upstream.connections()).toBe(1));
  });

  it('closes connections that carry no request at once', async () => {
    const upstream = opened(await startBoth());
    const { call, gateway } = await open([upstream.url], 'http1');
    await Promise.all([1, 2, 3].map(async () => (await call()).text()));
    await gateway.use(snapshotOf([upstream.url], 'http2', { version: 2 }));
    await eventually(() => expect(upstream.connections()).toBe(0));
  });

  it('fails and repeats no request of the traffic that runs', async () => {
    const upstream = opened(await startBoth());
    const { call, gateway } = await open([upstream.url], 'http1');
    let isOver = false;
    const statuses: number[] = [];
    const caller = async () => {
      while (!isOver) {
        const response = await call();
        await response.arrayBuffer();
        statuses.push(response.status);
      }
    };
    const callers = Array.from({ length: 8 }, caller);
    const changes: readonly Protocol[] = ['http2', 'auto', 'http1', 'http2', 'http1'];
    for (const [index, protocol] of changes.entries()) {
      const from = upstream.seen.length;
      await gateway.use(snapshotOf([upstream.url], protocol, { version: index + 2 }));
      await eventually(() => expect(upstream.seen.length).toBeGreaterThan(from + 100));
    }
    isOver = true;
    await Promise.all(callers);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(new Set(gateway.records.map(({ attempts }) => attempts.length))).toEqual(new Set([1]));
    expect(upstream.seen).toHaveLength(statuses.length);
  });

  it('makes new upstreams of those of the service: none is ejected', async () => {
    const failing = opened(await startBoth((response) => void response.writeHead(503).end()));
    const working = opened(await startBoth());
    const urls = [failing.url, working.url];
    const { call, gateway } = await open(urls, 'http1');
    const called = async () => {
      for (let made = 0; made < 40; made += 1) await (await call()).text();
      return failing.seen.length;
    };
    expect(await called()).toBe(5);
    await gateway.use(snapshotOf(urls, 'http2', { version: 2 }));
    expect(await called()).toBe(10);
  });
});
