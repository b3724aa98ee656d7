import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { startTestDataPath } from '../../test/data-path.ts';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { listen } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

/** An upstream that answers with its name and knows its connections. */
async function named(name: string, delayMs = 0) {
  const open = new Set<Socket>();
  let connections = 0;
  const held: (() => void)[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const answer = () => response.end(name);
    if (request.url?.includes('hold') === true) held.push(answer);
    else setTimeout(answer, delayMs);
  });
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const upstream = opened(await listen(server));
  return { ...upstream, open, held, connections: () => connections };
}

function version(snapshot: Snapshot, number: number): Snapshot {
  return { ...snapshot, version: number };
}

describe('a new configuration', () => {
  it('loses no request under load, and each one sees a single configuration', async () => {
    const upstreams = [await named('0', 1), await named('1', 1)] as const;
    const urls = upstreams.map((upstream) => upstream.url);
    const gateway = opened(await startTestDataPath({ upstreams: [urls[0] ?? ''] }));
    const snapshots = urls.map((url, index) => {
      const snapshot = testSnapshot({ upstreams: [url], retry_count: 0 }, gateway.token);
      const services = snapshot.services.map((service) => ({
        ...service,
        upstreams: service.upstreams.map((upstream) => ({ ...upstream, id: `ups_${index}` })),
      }));
      return { ...snapshot, services };
    });
    let changes = 0;
    let busy = true;
    const change = async () => {
      changes += 1;
      const next = snapshots[changes % 2];
      if (next !== undefined) await gateway.use(version(next, changes));
      if (busy) setTimeout(() => void change(), 1);
    };
    await change();
    const statuses: number[] = [];
    const caller = async () => {
      for (let request = 0; request < 50; request += 1) {
        const response = await gateway.call('test', { method: 'POST', body: 'x' });
        statuses.push(response.status);
        const name = await response.text();
        const record = await gateway.recordOf(response);
        expect(record.upstream?.id).toBe(`ups_${name}`);
        expect((record.config_version ?? -1) % 2).toBe(Number(name));
      }
    };
    // The first configuration has another version than those that follow.
    await eventually(() => expect(changes).toBeGreaterThan(1));
    await Promise.all(Array.from({ length: 8 }, caller));
    busy = false;
    expect(statuses).toEqual(Array.from({ length: 400 }, () => 200));
    expect(changes).toBeGreaterThan(20);
    const served = new Set(gateway.records.map((record) => record.upstream?.id));
    expect(served).toEqual(new Set(['ups_0', 'ups_1']));
  });

  it('lets a request in flight end with the old one, then closes the connections of a removed upstream', async () => {
    const [left, stays] = [await named('left'), await named('stays')];
    const gateway = opened(await startTestDataPath({ upstreams: [left.url] }));
    expect(await (await gateway.call('test')).text()).toBe('left');
    const inFlight = gateway.call('test/hold');
    await eventually(() => expect(left.held.length).toBe(1));
    const next = testSnapshot({ upstreams: [stays.url] }, gateway.token);
    await gateway.use(version(next, 2));
    expect(await (await gateway.call('test')).text()).toBe('stays');
    left.held[0]?.();
    expect(await (await inFlight).text()).toBe('left');
    await eventually(() => expect(left.open.size).toBe(0));
    expect(stays.open.size).toBe(1);
  });

  it('keeps the connections of an upstream that stays', async () => {
    const upstream = await named('stays');
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    for (let number = 2; number < 12; number += 1) {
      expect((await gateway.call('test')).status).toBe(200);
      await gateway.use(
        version(testSnapshot({ upstreams: [upstream.url] }, gateway.token), number),
      );
    }
    expect(upstream.connections()).toBe(1);
  });

  it('applies at once: a removed route, token or method is refused', async () => {
    const upstream = await named('x');
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    const base = testSnapshot({ upstreams: [upstream.url] }, gateway.token);
    await gateway.use(
      version(testSnapshot({ upstreams: [upstream.url], methods: ['PUT'] }, gateway.token), 2),
    );
    await expectRefusal(await gateway.call('test'), 405, 'method_not_allowed');
    await gateway.use({ ...base, version: 3, routes: [] });
    await expectRefusal(await gateway.call('test'), 404, 'route_not_found');
    await gateway.use({ ...base, version: 4, tokens: [] });
    await expectRefusal(await gateway.call('test'), 401, 'authentication_failed');
    await gateway.use(version(base, 5));
    expect((await gateway.call('test')).status).toBe(200);
  });

  it('is required: before the first one, every request is answered 503', async () => {
    const gateway = opened(await startTestDataPath({ upstreams: [] }, { snapshots: [] }));
    const response = await gateway.call('test');
    await expectRefusal(response, 503, 'gateway_not_ready');
    expect(response.headers.get('retry-after')).toBe('1');
  });
});
