import { constants } from 'node:crypto';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { listen, startRawUpstream } from '@gateway/shared/test/upstream';
import { tlsConnections } from './tls-connections.ts';

const opened = closeAfterEach();

/** A server that counts its handshakes. With `secureOptions` it may give no tickets. */
async function startServer(status = 200, secureOptions = 0) {
  const { certPem, keyPem } = createTestAuthority('test').issue(['127.0.0.1']);
  const server = createServer({ cert: certPem, key: keyPem, secureOptions }, (_, response) => {
    response.writeHead(status).end('ok');
  });
  const handshakes = { full: 0, resumed: 0 };
  server.on('secureConnection', (socket: TLSSocket) => {
    handshakes[socket.isSessionReused() ? 'resumed' : 'full'] += 1;
  });
  const { url } = opened(await listen(server));
  return { url: url.replace('http:', 'https:'), handshakes };
}

function load(url: string, resumed: boolean, { signal } = new AbortController()) {
  return tlsConnections({ url, authorization: '', resumed, requests: 6, parallel: 2, signal });
}

describe('tlsConnections', () => {
  it('makes a full handshake for each request', async () => {
    const { url, handshakes } = await startServer();
    expect(await load(url, false)).toMatchObject({ units: 6, failed: 0 });
    expect(handshakes).toEqual({ full: 6, resumed: 0 });
  });

  it('resumes a session for each request, after one full handshake for each lane', async () => {
    const { url, handshakes } = await startServer();
    expect(await load(url, true)).toMatchObject({ units: 6, failed: 0 });
    expect(handshakes).toEqual({ full: 2, resumed: 6 });
  });

  it('counts a handshake that resumes nothing as failed', async () => {
    const { url } = await startServer(200, constants.SSL_OP_NO_TICKET);
    expect(await load(url, true)).toMatchObject({ units: 6, failed: 6 });
  });

  it('ends with the run, also if the server does not answer', async () => {
    const run = new AbortController();
    const { url } = opened(await startRawUpstream(() => run.abort()));
    await expect(load(url.replace('http:', 'https:'), false, run)).rejects.toThrow('aborted');
  });

  it('counts a response other than 200 as failed', async () => {
    const { url } = await startServer(503);
    expect(await load(url, false)).toMatchObject({ units: 6, failed: 6 });
  });
});
