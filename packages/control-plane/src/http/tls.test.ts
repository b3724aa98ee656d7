import { once } from 'node:events';
import { Agent, request, type RequestOptions } from 'node:https';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { createIdFactory } from '@gateway/shared/ids';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { eventually } from '@gateway/shared/test/eventually';
import {
  openTestCertificate,
  writeCertificateFiles,
  type TestCertificateFiles,
} from '@gateway/shared/test/served-certificate';
import type { ServedCertificate } from '@gateway/shared/tls/served-certificate';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { Registry } from 'prom-client';
import { createHttpMetrics } from './metrics.ts';
import { startServer, type ManagementServer } from './server.ts';

const authority = createTestAuthority('management');
let registry: Registry;
let files: TestCertificateFiles;
let certificate: ServedCertificate;
let server: ManagementServer;

beforeEach(async () => {
  registry = new Registry();
  files = await writeCertificateFiles(authority, ['127.0.0.1', 'one.test']);
  certificate = await openTestCertificate(files);
  server = await startServer((_request, response) => void response.end('done'), {
    host: '127.0.0.1',
    port: 0,
    authFailureLimit: 600,
    clock: systemClock,
    log: createLogger('test', 'silent'),
    certificate,
    newId: createIdFactory(() => Date.now()),
    metrics: createHttpMetrics(registry),
  });
});

afterEach(async () => {
  await server.close();
  certificate.stop();
  await files.remove();
});

async function call(agent: Agent, options: RequestOptions = {}) {
  const sent = request({ port: server.port, host: '127.0.0.1', agent, ...options }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { socket } = response;
  if (!(socket instanceof TLSSocket)) throw new Error('the response came without TLS');
  const { localPort } = socket;
  return { body: await text(response), protocol: socket.getProtocol(), localPort };
}

describe('the management port with TLS', () => {
  it('serves HTTP/1.1 over TLS 1.2 or newer', async () => {
    const agent = new Agent({ ca: authority.certPem });
    const { body, protocol } = await call(agent);
    expect(body).toBe('done');
    expect(['TLSv1.2', 'TLSv1.3']).toContain(protocol);
    agent.destroy();
    await expect(call(new Agent())).rejects.toThrow(/certificate/);
    const old = new Agent({ ca: authority.certPem, maxVersion: 'TLSv1.1', minVersion: 'TLSv1' });
    await expect(call(old)).rejects.toThrow();
  });

  it('uses a new certificate for new connections and keeps the open ones', async () => {
    const kept = new Agent({ ca: authority.certPem, keepAlive: true, maxSockets: 1 });
    const before = await call(kept);
    await files.write(['127.0.0.1', 'two.test']);
    await certificate.reload();
    const after = await call(kept);
    expect(after.localPort).toBe(before.localPort);
    const fresh = new Agent({ ca: authority.certPem });
    const named = { servername: 'two.test' };
    expect((await call(fresh, named)).body).toBe('done');
    await expect(call(fresh, { servername: 'one.test' })).rejects.toThrow(/altnames/i);
    kept.destroy();
    fresh.destroy();
  });

  it('closes a connection that is not TLS, and counts it', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET /v1/services HTTP/1.1\r\nHost: a\r\n\r\n');
    socket.on('error', () => undefined);
    const received: Buffer[] = [];
    socket.on('data', (bytes: Buffer) => void received.push(bytes));
    await once(socket, 'close');
    expect(Buffer.concat(received).toString('latin1')).not.toContain('HTTP/1.1');
    await eventually(async () => {
      expect(await registry.metrics()).toContain('reason="tls_handshake"} 1');
    });
  });
});
