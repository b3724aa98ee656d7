import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { Snapshot, SnapshotService } from '@gateway/shared/snapshot/schema';
import { systemClock, type Clock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { closedPort, startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';
import { copies, eventuallyCopies, startMirrored } from '../../test/mirror-world.ts';

type Limits = SnapshotService['limits'];

const opened = closeAfterEach();
const REQUESTS = 20;
/** `timeout_ms` of the route. */
const TIMEOUT_MS = 5000;

/** A mirror that takes connections and does with each what the test says. It has those that are open. */
async function startMirror(onRequest: (socket: Socket) => void = () => undefined) {
  const sockets = new Set<Socket>();
  const server = opened(
    await startRawUpstream((socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      socket.once('data', () => onRequest(socket));
    }),
  );
  return { url: server.url, sockets };
}

/** A clock on which a deadline passes only when it is advanced. The short timers are those of the stop at the end. */
function deadlineClock() {
  const manual = manualClock();
  const setTimer: Clock['setTimer'] = (delayMs, callback) =>
    (delayMs < TIMEOUT_MS ? systemClock : manual).setTimer(delayMs, callback);
  return { clock: { ...manual, setTimer }, advance: (ms: number) => manual.advance(ms) };
}

const startOriginal = async () =>
  opened(await startUpstream((_seen, response) => response.end('of the original')));

type Gateway = Awaited<ReturnType<typeof startMirrored>>;

async function callMany(gateway: Gateway, init?: RequestInit): Promise<void> {
  for (let count = 0; count < REQUESTS; count += 1) {
    const response = await gateway.call('test', init);
    expect([response.status, await response.text()]).toEqual([200, 'of the original']);
  }
}

const headAnd = (body: string) => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;

describe('a request whose mirror', () => {
  it('hangs is answered while no copy of any request is', async () => {
    const upstream = await startOriginal();
    const mirror = await startMirror();
    const gateway = opened(await startMirrored(upstream.url, [mirror.url]));
    await callMany(gateway, { method: 'POST', body: 'hello' });
    await eventually(() => expect(mirror.sockets.size).toBe(REQUESTS));
    await eventuallyInFlight(gateway, { copies: REQUESTS, requests: 0 });
  });

  it('hangs is answered, and its copy ends at the deadline of the route', async () => {
    const upstream = await startOriginal();
    const mirror = await startMirror();
    const { clock, advance } = deadlineClock();
    const gateway = opened(await startMirrored(upstream.url, [mirror.url], { clock }));
    await gateway.call('test');
    await eventually(() => expect(mirror.sockets.size).toBe(1));
    advance(TIMEOUT_MS - 1);
    await eventuallyInFlight(gateway, { copies: 1, requests: 0 });
    advance(1);
    await eventuallyCopies(gateway, { result: 'attempt_timeout' }, 1);
    await eventually(() => expect(mirror.sockets.size).toBe(0));
  });

  it('begins a response and never ends it is answered; the copy ends at the deadline', async () => {
    const upstream = await startOriginal();
    const mirror = await startMirror((socket) => socket.write(headAnd('1\r\nx\r\n')));
    const { clock, advance } = deadlineClock();
    const gateway = opened(await startMirrored(upstream.url, [mirror.url], { clock }));
    await gateway.call('test');
    await eventually(() => expect(mirror.sockets.size).toBe(1));
    await eventually(async () => {
      advance(TIMEOUT_MS);
      expect(await copies(gateway, { result: '2xx' })).toBe(1);
    });
    await eventually(() => expect(mirror.sockets.size).toBe(0));
  });

  it('refuses connections is answered', async () => {
    const upstream = await startOriginal();
    const url = `http://127.0.0.1:${await closedPort()}`;
    const gateway = opened(await startMirrored(upstream.url, [url]));
    await callMany(gateway);
    await eventuallyCopies(gateway, { result: 'connect_refused' }, REQUESTS);
  });

  it('sends no HTTP is answered', async () => {
    const upstream = await startOriginal();
    const mirror = await startMirror((socket) => socket.end('no HTTP at all\r\n\r\n'));
    const gateway = opened(await startMirrored(upstream.url, [mirror.url]));
    await callMany(gateway);
    await eventuallyCopies(gateway, { result: 'invalid_response' }, REQUESTS);
  });

  it('sends a body without end is answered; the copy takes a bounded part of it', async () => {
    const upstream = await startOriginal();
    let sent = 0;
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    const mirror = await startMirror((socket) => {
      socket.write(headAnd(''));
      const fill = () => {
        while (!socket.destroyed && socket.write(chunk)) sent += 0x4000;
      };
      socket.on('drain', fill);
      fill();
    });
    const gateway = opened(await startMirrored(upstream.url, [mirror.url]));
    await gateway.call('test');
    await eventuallyCopies(gateway, { result: '2xx' }, 1);
    await eventually(() => expect(mirror.sockets.size).toBe(0));
    // What the gateway takes, and what fits in the buffers of the system.
    expect(sent).toBeLessThan(16 * 1024 * 1024);
  });

  it('is missing is answered, and the mirror heals with its service', async () => {
    const upstream = await startOriginal();
    const mirror = opened(await startUpstream());
    const gateway = opened(await startMirrored(upstream.url, [mirror.url]));
    const [service, removed] = gateway.snapshot.services;
    if (service === undefined || removed === undefined) throw new Error('there are two services');
    await gateway.use({ ...gateway.snapshot, version: 2, services: [service] });
    await callMany(gateway);
    expect(await copies(gateway, { reason: 'service' })).toBe(REQUESTS);
    const nothing = { put: [], remove: [] };
    gateway.change({
      kind: 'delta',
      format: 1,
      environment: 'production',
      from: 2,
      version: 3,
      since: { snapshot: 1, deltas: 1, bytes: 1 },
      services: { put: [removed], remove: [] },
      routes: nothing,
      tokens: nothing,
    });
    await callMany(gateway);
    await eventuallyCopies(gateway, { result: '2xx' }, REQUESTS);
  });
});

/** The snapshot of a gateway with these limits of the mirror service. */
function limited({ snapshot }: Gateway, limits: Partial<Limits>): Snapshot {
  const services = snapshot.services.map((service) =>
    service.id === 'svc_mirror'
      ? { ...service, limits: { ...service.limits, ...limits } }
      : service,
  );
  return { ...snapshot, version: 2, services };
}

function eventuallyInFlight(
  gateway: Gateway,
  expected: { readonly copies: number; readonly requests: number },
): Promise<void> {
  const name = 'gateway_mirrored_requests_in_flight';
  return eventually(async () => {
    const text = await gateway.registry.getSingleMetricAsString(name);
    const [, count] = /^gateway_mirrored_requests_in_flight (\d+)$/m.exec(text) ?? [];
    expect({ copies: Number(count), requests: await gateway.inFlight() }).toEqual(expected);
  });
}

describe('a stop of the data plane', () => {
  it('waits for requests and not for copies', async () => {
    const upstream = await startOriginal();
    const mirror = await startMirror();
    const halfway = await startMirror((socket) => socket.write(headAnd('1\r\nx\r\n')));
    // With this time a stop that waited for copies would not end within that of the test.
    const environment = { DRAIN_TIMEOUT_MS: '600000' };
    const urls = [mirror.url, halfway.url];
    const options = { environment, route: { timeout_ms: 300_000 } };
    const gateway = await startMirrored(upstream.url, urls, options);
    await callMany(gateway);
    await eventually(() => expect(mirror.sockets.size + halfway.sockets.size).toBe(REQUESTS));
    await gateway.stop();
    expect(await copies(gateway, { result: 'cut_off' })).toBe(REQUESTS);
    await eventuallyInFlight(gateway, { copies: 0, requests: 0 });
    await eventually(() => expect(mirror.sockets.size + halfway.sockets.size).toBe(0));
  });
});

describe('copies', () => {
  it('beyond MAX_MIRRORED_REQUESTS are not made', async () => {
    const upstream = await startOriginal();
    const mirror = await startMirror();
    const environment = { MAX_MIRRORED_REQUESTS: '5' };
    const gateway = opened(await startMirrored(upstream.url, [mirror.url], { environment }));
    await callMany(gateway);
    await eventually(() => expect(mirror.sockets.size).toBe(5));
    expect(await copies(gateway, { reason: 'in_flight' })).toBe(REQUESTS - 5);
  });

  it.each<[Partial<Limits>, number]>([
    [{ max_in_flight: 8 }, 4],
    [{ max_in_flight: 3 }, 1],
    [{ max_in_flight: 1 }, 0],
    [{ max_connections: 8 }, 4],
    [{ max_connections: 3, max_pending: 0 }, 1],
    [{ max_connections: 1 }, 0],
  ])('take at most half of what their service may have: %j', async (limits, most) => {
    const upstream = await startOriginal();
    const mirror = await startMirror();
    const gateway = opened(await startMirrored(upstream.url, [mirror.url]));
    await gateway.use(limited(gateway, limits));
    await callMany(gateway);
    await eventuallyCopies(gateway, { reason: 'overload' }, REQUESTS - most);
    await eventually(() => expect(mirror.sockets.size).toBe(most));
    await eventuallyInFlight(gateway, { copies: most, requests: 0 });
  });

  it('whose bodies were under way together take no more of it either', async () => {
    const upstream = await startOriginal();
    const mirror = await startMirror();
    const route = { retry_count: 0 };
    const gateway = opened(await startMirrored(upstream.url, [mirror.url], { route }));
    await gateway.use(limited(gateway, { max_in_flight: 8 }));
    const callers = await Promise.all(Array.from({ length: 9 }, () => rawConnection(gateway.port)));
    for (const caller of callers) {
      opened(caller);
      const lines = [
        'Host: gateway.test',
        `Authorization: Bearer ${gateway.secret}`,
        'Transfer-Encoding: chunked',
      ];
      caller.send(requestText({ method: 'POST', target: '/v1/proxy/test', lines }));
      caller.send('5\r\nhello\r\n');
    }
    await eventually(async () => expect(await gateway.inFlight()).toBe(callers.length));
    for (const caller of callers) caller.send('0\r\n\r\n');
    for (const caller of callers) expect((await caller.response()).status).toBe(200);
    await eventuallyCopies(gateway, { reason: 'overload' }, callers.length - 4);
    await eventually(() => expect(mirror.sockets.size).toBe(4));
  });

  it('are not made while half of the slots are taken', async () => {
    const upstream = await startOriginal();
    const mirror = opened(await startUpstream());
    const environment = { MAX_IN_FLIGHT_REQUESTS: '2' };
    const gateway = opened(await startMirrored(upstream.url, [mirror.url], { environment }));
    await callMany(gateway);
    expect(await copies(gateway, { reason: 'overload' })).toBe(REQUESTS);
    expect(mirror.seen).toHaveLength(0);
  });

  it.each([
    ['sent at once', false],
    ['streamed', true],
  ])('of bodies that are too large are not made: %s', async (_how, streams) => {
    const upstream = await startOriginal();
    const mirror = opened(await startUpstream());
    const limits = { mirror: { max_body_bytes: 99_999 }, route: { retry_count: 0 } };
    const gateway = opened(await startMirrored(upstream.url, [mirror.url], limits));
    const blob = new Blob(['x'.repeat(100_000)]);
    const body = streams ? { body: blob.stream(), duplex: 'half' as const } : { body: blob };
    expect((await gateway.call('test', { method: 'POST', ...body })).status).toBe(200);
    expect(upstream.seen[0]?.body).toHaveLength(100_000);
    expect(await copies(gateway, { reason: 'body_too_large' })).toBe(1);
    expect(mirror.seen).toHaveLength(0);
  });

  it('share the memory for bodies, and are not made beyond it', async () => {
    const upstream = await startOriginal();
    const mirror = await startMirror();
    const environment = { MAX_MIRRORED_BODY_BYTES: '10000' };
    const gateway = opened(await startMirrored(upstream.url, [mirror.url], { environment }));
    await callMany(gateway, { method: 'POST', body: 'x'.repeat(1000) });
    await eventually(() => expect(mirror.sockets.size).toBe(10));
    expect(await copies(gateway, { reason: 'body_memory' })).toBe(REQUESTS - 10);
    for (const socket of mirror.sockets) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    await eventuallyCopies(gateway, { result: '2xx' }, 10);
    await gateway.call('test', { method: 'POST', body: 'x'.repeat(10_000) });
    await eventually(() => expect(mirror.sockets.size).toBe(1));
  });

  it('are not made of a body whose caller leaves', async () => {
    const upstream = await startOriginal();
    const mirror = opened(await startUpstream());
    const route = { retry_count: 0 };
    const gateway = opened(await startMirrored(upstream.url, [mirror.url], { route }));
    const connection = opened(await rawConnection(gateway.port));
    const lines = [
      'Host: gateway.test',
      `Authorization: Bearer ${gateway.secret}`,
      'Transfer-Encoding: chunked',
    ];
    connection.send(requestText({ method: 'POST', target: '/v1/proxy/test', lines }));
    connection.send('5\r\nhello\r\n');
    await eventually(async () => expect(await gateway.inFlight()).toBe(1));
    connection.destroy();
    await eventuallyCopies(gateway, { reason: 'body_incomplete' }, 1);
    expect(mirror.seen).toHaveLength(0);
    await eventuallyInFlight(gateway, { copies: 0, requests: 0 });
  });
});
