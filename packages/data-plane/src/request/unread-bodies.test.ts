import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { countingClock } from '../../test/counting-clock.ts';
import { startTestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { closedPort, startRawUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
const CHUNK = `10000\r\n${'x'.repeat(65_536)}\r\n`;

/** Where a body that arrives late, on a busy machine, must not time out. */
const PATIENT = { BODY_IDLE_TIMEOUT_MS: '20000' };

/** A gateway whose only upstream refuses the connection, and a caller that uploads in chunks. */
async function setUp(
  route: Partial<SnapshotRoute> = {},
  environment: Record<string, string> = {},
  upstream?: string,
) {
  const clock = countingClock();
  const url = upstream ?? `http://127.0.0.1:${await closedPort()}`;
  const gateway = opened(
    await startTestDataPath(
      { upstreams: [url], retry_count: 0, ...route },
      { environment: { BODY_IDLE_TIMEOUT_MS: '100', ...environment }, clock },
    ),
  );
  const connection = opened(await rawConnection(gateway.port));
  const upload = (token: string | undefined, body: string) => {
    const lines = ['Host: gateway.test', 'Transfer-Encoding: chunked'];
    if (token !== undefined) lines.push(`Authorization: Bearer ${token}`);
    connection.send(requestText({ method: 'POST', lines, body }));
  };
  return { clock, gateway, connection, upload };
}

describe('a body that no upstream has read', () => {
  it('is read to its end, so that the connection serves the next request', async () => {
    const { gateway, connection, upload } = await setUp();
    for (let again = 0; again < 3; again += 1) {
      upload(gateway.token, `${CHUNK.repeat(40)}0\r\n\r\n`);
      await expectRefusal(await connection.response(), 502, 'upstream_unavailable');
    }
    upload(undefined, `${CHUNK.repeat(40)}0\r\n\r\n`);
    await expectRefusal(await connection.response(), 401, 'authentication_failed');
    upload(gateway.token, '0\r\n\r\n');
    expect((await connection.response()).status).toBe(502);
  });

  it('leaves no timer, whether the caller finishes it or leaves', async () => {
    const { clock, gateway, connection, upload } = await setUp();
    upload(gateway.token, CHUNK);
    expect((await connection.response()).status).toBe(502);
    connection.send('0\r\n\r\n');
    // Only the timer of the connection sweep is left, because some connections are still open.
    await eventually(() => expect(clock.pending).toBe(1));
    upload(gateway.token, CHUNK);
    expect((await connection.response()).status).toBe(502);
    connection.destroy();
    await eventually(() => expect(clock.pending).toBe(0));
    expect(gateway.records.map((record) => record.outcome)).toEqual([
      'upstream_unavailable',
      'upstream_unavailable',
    ]);
  });

  it('is released if the caller leaves before a retry', async () => {
    const retry = {
      on_statuses: [],
      per_attempt_timeout_ms: null,
      backoff_ms: 20_000,
      unsafe_methods: 'never' as const,
    };
    const { clock, gateway, connection, upload } = await setUp({
      retry_count: 100,
      timeout_ms: 60_000,
      retry,
    });
    // Less than makes the gateway stop reading, because then it would not notice that the caller leaves.
    upload(gateway.token, '5\r\nhello\r\n');
    // In flight; the only timers are those of the back-off and the connection sweep.
    await eventually(async () => expect(await gateway.inFlight()).toBe(1));
    await eventually(() => expect(clock.pending).toBe(2));
    connection.destroy();
    await eventually(() => expect(gateway.records.length).toBe(1));
    expect(gateway.records[0]).toMatchObject({ outcome: 'client_aborted', status: null });
    await eventually(() => expect(clock.pending).toBe(0));
    expect(await gateway.inFlight()).toBe(0);
  });

  it.each([
    ['is refused', undefined, 401],
    ['meets no upstream', 'with a token', 502],
  ])(
    'holds a connection for a bounded time if the caller %s and sends endlessly',
    async (_case, withToken, status) => {
      const { gateway, connection, upload, clock } = await setUp({}, { LINGER_TIMEOUT_MS: '300' });
      upload(withToken === undefined ? undefined : gateway.token, CHUNK);
      expect((await connection.response()).status).toBe(status);
      const startedMs = performance.now();
      await eventually(() => {
        connection.send('1\r\nx\r\n');
        expect(connection.ended).toBe(true);
      });
      expect(performance.now() - startedMs).toBeGreaterThan(200);
      expect(await gateway.registry.metrics()).toContain(
        'gateway_connections_ended_total{reason="UNREAD_BODY"} 1\n',
      );
      await eventually(() => expect(clock.pending).toBe(0));
    },
  );

  it('is not forwarded after an upstream has responded', async () => {
    let received = 0;
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket.on('data', (bytes) => (received += bytes.length));
        socket.once('data', () => {
          socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\n\r\nmuch');
        });
      }),
    );
    const { gateway, connection, upload } = await setUp({}, PATIENT, upstream.url);
    upload(gateway.token, CHUNK);
    const early = await connection.response();
    expect(early.status).toBe(413);
    expect(await early.text()).toBe('much');
    expect(await gateway.recordOf(early)).toMatchObject({ outcome: 'success', status: 413 });
    const before = received;
    connection.send(`${CHUNK.repeat(40)}0\r\n\r\n`);
    upload(undefined, '0\r\n\r\n');
    await expectRefusal(await connection.response(), 401, 'authentication_failed');
    expect(received).toBeLessThan(before + 20 * CHUNK.length);
  });

  it.each([
    ['closes', (socket: Socket) => void socket.destroy()],
    ['resets', (socket: Socket) => void socket.resetAndDestroy()],
  ])('loses no response of an upstream that sends it early and %s', async (_case, leave) => {
    const answer = 'HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\n\r\nmuch';
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket.once('data', () => {
          // Its unread bytes turn its end into a reset, so that the next write to it fails.
          socket.pause();
          socket.write(answer, () => leave(socket));
        });
      }),
    );
    const { gateway, connection, upload } = await setUp({}, PATIENT, upstream.url);
    for (let again = 0; again < 3; again += 1) {
      upload(gateway.token, `${CHUNK.repeat(80)}0\r\n\r\n`);
      const early = await connection.response();
      expect([early.status, await early.text()]).toEqual([413, 'much']);
      expect(await gateway.recordOf(early)).toMatchObject({ outcome: 'success', status: 413 });
    }
  });

  it('gets 502 at once if the upstream closes without a response', async () => {
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket.once('data', () => {
          socket.pause();
          socket.resetAndDestroy();
        });
      }),
    );
    const { gateway, connection, upload } = await setUp({ timeout_ms: 60_000 }, {}, upstream.url);
    upload(gateway.token, `${CHUNK.repeat(80)}0\r\n\r\n`);
    await expectRefusal(await connection.response(), 502, 'upstream_unavailable');
  });
});
