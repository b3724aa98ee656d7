import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { requestText } from '@gateway/shared/test/raw-client';
import { refusesConnections } from '@gateway/shared/test/refuses-connections';
import { startUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath } from '../../test/data-path.ts';
import { startSecureDataPath } from '../../test/secure-data-path.ts';

const opened = closeAfterEach();
const PIECE = 'x'.repeat(20_000);
const PIECES = 30;
const LENGTH = PIECE.length * PIECES;

/** A caller whose request is in flight, and whose body is not complete. */
async function uploader(tls: boolean, environment: Record<string, string> = {}) {
  const upstream = opened(await startUpstream());
  const route = { upstreams: [upstream.url], timeout_ms: 60_000, max_body_bytes: 50_000 };
  const options = {
    environment: { DRAIN_GRACE_MS: '0', DRAIN_TIMEOUT_MS: '20000', ...environment },
  };
  const secure = tls ? opened(await startSecureDataPath(route, options)) : undefined;
  const gateway = secure ?? opened(await startTestDataPath(route, options));
  const to = { port: gateway.port, host: '127.0.0.1', allowHalfOpen: true };
  const socket = secure ? connectTls({ ...to, ca: secure.authority.certPem }) : connect(to);
  opened({ stop: () => void socket.destroy() });
  const seen = { text: '', errors: [] as Error[] };
  socket.setEncoding('latin1').on('data', (chunk: string) => (seen.text += chunk));
  socket.on('error', (error: Error) => void seen.errors.push(error));
  const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
  const request = (framing: string, body: string) =>
    socket.write(requestText({ method: 'POST', lines: [...lines, framing], body }));
  const sendRest = async () => {
    for (let sent = 1; sent < PIECES; sent += 1) {
      socket.write(PIECE);
      // The gateway reads it, in the same process.
      await setImmediate();
    }
  };
  return { gateway, socket, seen, request, sendRest };
}

describe.each([
  ['without TLS', false],
  ['with TLS', true],
])('a drain, and a caller that goes on sending a refused body %s', (_port, tls) => {
  it('waits until it has sent everything, if it was refused during the drain', async () => {
    const { gateway, socket, seen, request, sendRest } = await uploader(tls);
    request('Transfer-Encoding: chunked', '1\r\nx\r\n');
    await eventually(async () => expect(await gateway.inFlight()).toBe(1));
    const stopping = gateway.stop();
    await refusesConnections(gateway.port);
    socket.write(`${LENGTH.toString(16)}\r\n${PIECE.repeat(3)}`);
    await eventually(() => expect(seen.text).toContain('payload_too_large'));
    expect(seen.text).toMatch(/^HTTP\/1\.1 413 .*connection: close\r\n/is);
    await sendRest();
    socket.end();
    await stopping;
    await eventually(() => expect(socket.destroyed).toBe(true));
    expect(seen.errors).toEqual([]);
    expect(gateway.records).toMatchObject([{ status: 413, error_code: 'payload_too_large' }]);
    expect(await gateway.registry.metrics()).toContain('{reason="UNREAD_BODY"} 0\n');
  });

  it('waits until it has sent everything, if it was refused before the drain', async () => {
    const { gateway, socket, seen, request, sendRest } = await uploader(tls);
    request(`Content-Length: ${LENGTH}`, PIECE);
    await eventually(() => expect(seen.text).toContain('payload_too_large'));
    expect(seen.text).toMatch(/connection: keep-alive\r\n/i);
    const stopping = gateway.stop();
    await once(socket, 'end');
    await sendRest();
    socket.end();
    await stopping;
    await eventually(() => expect(socket.destroyed).toBe(true));
    expect(seen.errors).toEqual([]);
  });

  it('ends within its timeout if the caller does not end', async () => {
    const { gateway, socket, seen, request } = await uploader(tls, { DRAIN_TIMEOUT_MS: '300' });
    request(`Content-Length: ${LENGTH}`, PIECE);
    await eventually(() => expect(seen.text).toContain('payload_too_large'));
    const startedMs = performance.now();
    await gateway.stop();
    expect(performance.now() - startedMs).toBeLessThan(5000);
    expect(await gateway.inFlight()).toBe(0);
    await eventually(async () => {
      expect(await gateway.registry.metrics()).toContain('gateway_connections 0\n');
    });
    socket.destroy();
  });
});
