import type { Socket } from 'node:net';
import { describe, expect, it, jest } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText, type RawConnection } from '@gateway/shared/test/raw-client';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath } from '../../test/data-path.ts';
import { Attempt } from '../upstream/attempt.ts';

const opened = closeAfterEach();
const UPGRADE = [
  ...['Host: gateway.test', 'Connection: Upgrade', 'Upgrade: websocket'],
  ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='],
];
const SWITCHING =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

/** Sends a handshake; the upstream does `answer` when it arrives. */
async function handshake(
  answer: (upstream: Socket, caller: Socket) => void,
  environment: Record<string, string> = {},
) {
  const upstream = opened(
    await startRawUpstream((socket) => {
      socket.once('data', () => answer(socket, connection.socket));
    }),
  );
  const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }, { environment }));
  const connection: RawConnection = opened(await rawConnection(gateway.port));
  const lines = [...UPGRADE, `Authorization: Bearer ${gateway.token}`];
  connection.send(requestText({ lines }));
  return { gateway, connection };
}

it('ends its connection if the upstream cannot be told that the caller left', async () => {
  const { gateway, connection } = await handshake((upstream) => upstream.write(SWITCHING));
  await eventually(() => expect(connection.receivedText).toContain('101'));
  jest.spyOn(Attempt.prototype, 'cancel').mockImplementationOnce(() => {
    throw new Error('a bug');
  });
  connection.socket.destroy();
  await eventually(async () => expect(await gateway.inFlight()).toBe(0));
  jest.restoreAllMocks();
  const lines = gateway.logLines.filter((line) => line.includes('connection failed unexpectedly'));
  expect(lines).toHaveLength(1);
  expect(gateway.records).toHaveLength(1);
});

describe('a caller that leaves before the answer to its upgrade was sent', () => {
  it('counts as aborted if it leaves within a refusal', async () => {
    const { gateway, connection } = await handshake((upstream) => {
      upstream.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 1000000\r\n\r\nhello');
    });
    await eventually(() => expect(connection.receivedText).toContain('hello'));
    connection.socket.resetAndDestroy();
    await eventually(() => expect(gateway.records).toHaveLength(1));
    expect(gateway.records[0]).toMatchObject({ status: 403, outcome: 'client_aborted' });
  });

  it('does not count as aborted if a drain cuts the refusal', async () => {
    const { gateway, connection } = await handshake(
      (upstream) => {
        upstream.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 1000000\r\n\r\nhello');
      },
      { DRAIN_TIMEOUT_MS: '50' },
    );
    await eventually(() => expect(connection.receivedText).toContain('hello'));
    await gateway.stop();
    expect(gateway.records).toMatchObject([
      { status: 403, outcome: 'rejected', error_code: 'gateway_stopping' },
    ]);
  });

  it('counts as aborted if it leaves while the upstream switches protocols', async () => {
    const { gateway } = await handshake((upstream, caller) => {
      caller.resetAndDestroy();
      upstream.write(SWITCHING);
    });
    await eventually(() => expect(gateway.records).toHaveLength(1));
    expect(gateway.records[0]?.outcome).toBe('client_aborted');
  });
});
