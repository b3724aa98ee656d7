import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { Agent, request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, type SecureVersion, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { http2Call } from '../../test/http2-call.ts';
import { startSecureDataPath, type SecureDataPath } from '../../test/secure-data-path.ts';

const authority = createTestAuthority('names');
const ca = authority.certPem;
let folder: string;
let upstream: TestUpstream;
let gateway: SecureDataPath;
let sessions: ClientHttp2Session[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-tls-'));
  sessions = [];
  upstream = await startUpstream((_seen, response) => void response.end('ok'));
  await write('a', ['a.test', '*.a.test']);
  await write('b', ['b.test']);
  gateway = await startSecureDataPath(
    { upstreams: [upstream.url] },
    { certificateFolder: folder, authority },
  );
});

afterEach(async () => {
  for (const session of sessions) session.destroy();
  await gateway.stop();
  await upstream.close();
  await rm(folder, { recursive: true });
});

async function write(name: string, names: string[]): Promise<void> {
  const { certPem, keyPem } = authority.issue(names);
  await writeFile(join(folder, `${name}.crt`), certPem);
  await writeFile(join(folder, `${name}.key`), keyPem);
}

async function remove(name: string): Promise<void> {
  await rm(join(folder, `${name}.crt`));
  await rm(join(folder, `${name}.key`));
}

/** The names of the certificate that a caller with this name gets; undefined: without SNI. */
async function shown(servername: string | undefined): Promise<string | undefined> {
  const name = servername === undefined ? {} : { servername };
  const checkServerIdentity = () => undefined;
  const socket = connect({
    port: gateway.port,
    host: '127.0.0.1',
    ca,
    checkServerIdentity,
    ...name,
  });
  await once(socket, 'secureConnect');
  const names = socket.getPeerCertificate().subjectaltname;
  socket.destroy();
  return names;
}

interface Opened {
  /** undefined: without SNI. */
  readonly servername?: string;
  readonly maxVersion?: SecureVersion;
  /** A session to resume. */
  readonly resume?: Buffer | undefined;
}

/** A connection of HTTP/2 that was opened for a name, whatever certificate it gets. */
function open({ servername, maxVersion, resume }: Opened): ClientHttp2Session {
  const session = connectHttp2(gateway.url, {
    ca,
    checkServerIdentity: () => undefined,
    ...(servername === undefined ? {} : { servername }),
    ...(maxVersion === undefined ? {} : { maxVersion }),
    ...(resume === undefined ? {} : { session: resume }),
  });
  sessions.push(session);
  return session;
}

const bearer = () => ({ authorization: `Bearer ${gateway.token}` });

/** The status of a request with this authority on a connection. */
async function statusOf(session: ClientHttp2Session, host: string): Promise<number> {
  return (await http2Call(session, { ':authority': host, ...bearer() })).status;
}

describe('the certificate of a connection', () => {
  it('is that of the name that the caller sends, else that of the port', async () => {
    expect(await shown('a.test')).toBe('DNS:a.test, DNS:*.a.test');
    expect(await shown('X.A.Test')).toBe('DNS:a.test, DNS:*.a.test');
    expect(await shown('b.test')).toBe('DNS:b.test');
    for (const other of ['x.y.a.test', 'x.b.test', 'c.test', undefined]) {
      expect({ other, names: await shown(other) }).toEqual({
        other,
        names: 'IP Address:127.0.0.1',
      });
    }
  });

  it('follows the folder for new connections, and open ones continue', async () => {
    const session = open({ servername: 'b.test' });
    expect(await statusOf(session, 'b.test')).toBe(200);
    await write('c', ['c.test']);
    await write('a', ['a.test', 'again.test']);
    await remove('b');
    await gateway.reloadCertificates();
    expect(await shown('c.test')).toBe('DNS:c.test');
    expect(await shown('a.test')).toBe('DNS:a.test, DNS:again.test');
    expect(await shown('b.test')).toBe('IP Address:127.0.0.1');
    expect(await statusOf(session, 'b.test')).toBe(200);
    expect(await statusOf(session, 'c.test')).toBe(421);
  });

  it('of the port is replaced as without a folder', async () => {
    await gateway.replaceCertificate(['127.0.0.1', 'new.test']);
    expect(await shown(undefined)).toContain('new.test');
    expect(await shown('a.test')).toBe('DNS:a.test, DNS:*.a.test');
  });
});

describe('a request over HTTP/2 with a host that the certificate of its connection does not cover', () => {
  it('gets 421 with all promised fields and a record, and the connection goes on', async () => {
    const session = open({ servername: 'a.test' });
    expect(await statusOf(session, 'a.test')).toBe(200);
    const { status, headers, body } = await http2Call(session, {
      ':authority': 'b.test',
      ...bearer(),
    });
    expect(status).toBe(421);
    expect(headers).toMatchObject({
      'x-gateway-error': 'misdirected_request',
      'x-request-id': expect.stringMatching(/^req_/),
      'x-gateway-latency': expect.stringMatching(/^\d+$/),
      'x-ratelimit-limit': expect.any(String),
      'x-ratelimit-remaining': expect.any(String),
      'x-ratelimit-reset': expect.any(String),
    });
    expect(JSON.parse(body)).toEqual({
      error: {
        code: 'misdirected_request',
        message: expect.stringContaining('does not cover the host'),
        request_id: headers['x-request-id'],
      },
    });
    expect(await gateway.recordOf(String(headers['x-request-id']))).toMatchObject({
      status: 421,
      error_code: 'misdirected_request',
      attempts: [],
    });
    expect(upstream.seen).toHaveLength(1);
    expect(await statusOf(session, 'x.a.test:8443')).toBe(200);
    // What a browser does next.
    expect(await statusOf(open({ servername: 'b.test' }), 'b.test')).toBe(200);
  });

  it.each([
    ['a.test', 'A.Test.', 200],
    ['a.test', 'x.a.test', 200],
    ['a.test', 'x.y.a.test', 421],
    ['a.test', '127.0.0.1', 421],
    ['x.a.test', 'a.test', 200],
    // The certificate of the port.
    ['c.test', 'a.test', 421],
    ['c.test', '127.0.0.1', 200],
    // No certificate covers it: another connection would get the same one.
    ['c.test', 'c.test', 200],
    ['c.test', 'd.test', 421],
    // Callers send no name if the host is an address.
    [undefined, '127.0.0.1', 200],
    [undefined, '[::1]:8443', 200],
    [undefined, 'a.test', 421],
  ])('on a connection for %s with the host %s: %s', async (servername, host, status) => {
    const session = open(servername === undefined ? {} : { servername });
    expect(await statusOf(session, host)).toBe(status);
    expect(upstream.seen).toHaveLength(status === 200 ? 1 : 0);
  });

  it('gets 421 for a management call too', async () => {
    const session = open({ servername: 'a.test' });
    const call = { ':path': '/v1/services', ':authority': 'b.test', ...bearer() };
    const { status, headers } = await http2Call(session, call);
    expect(status).toBe(421);
    expect(headers['x-gateway-error']).toBe('misdirected_request');
  });

  it('is served if no other certificate was there when the connection began', async () => {
    await remove('a');
    await remove('b');
    await gateway.reloadCertificates();
    const session = open({ servername: 'c.test' });
    expect(await statusOf(session, 'a.test')).toBe(200);
  });

  it('is served over HTTP/1.1', async () => {
    const agent = new Agent({ ca, servername: 'a.test' });
    const headers = { host: 'b.test', ...bearer() };
    const { port } = gateway;
    const options = { host: '127.0.0.1', port, path: '/v1/proxy/test', agent, headers };
    const [response] = (await once(request(options).end(), 'response')) as [IncomingMessage];
    expect([response.statusCode, await text(response)]).toEqual([200, 'ok']);
    agent.destroy();
  });
});

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('a resumed session of %s', (maxVersion) => {
  it.each(['a.test', 'c.test'])('for %s is one for that name', async (servername) => {
    const first = open({ servername, maxVersion });
    const ticket = once(first.socket as TLSSocket, 'session') as Promise<[Buffer]>;
    expect(await statusOf(first, servername)).toBe(200);
    const [resume] = await ticket;
    const second = open({ servername, maxVersion, resume });
    expect(await statusOf(second, servername)).toBe(200);
    expect((second.socket as TLSSocket).isSessionReused()).toBe(true);
    expect(await statusOf(second, 'b.test')).toBe(421);
    expect(await statusOf(second, servername)).toBe(200);
  });
});
