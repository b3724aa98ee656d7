import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';
import { createPlaneStack, type PlaneStack } from '@gateway/testing/processes';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { eventually } from '@gateway/shared/test/eventually';
import {
  writeCertificateFiles,
  type TestCertificateFiles,
} from '@gateway/shared/test/served-certificate';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const startTimeoutMs = 60_000;
const authority = createTestAuthority('planes');
const caFile = path.join(tmpdir(), `gateway-e2e-ca-${process.pid}.pem`);
const folder = path.join(tmpdir(), `gateway-e2e-certificates-${process.pid}`);

describe('both planes with TLS', () => {
  let stack: PlaneStack;
  let files: TestCertificateFiles;
  let dataPlane: ServiceProcess;
  let upstream: Server;
  let session: ClientHttp2Session;
  const clients: string[] = [];

  beforeAll(async () => {
    await writeFile(caFile, authority.certPem);
    await mkdir(folder);
    files = await writeCertificateFiles(authority, ['127.0.0.1']);
    const { certPem: cert, keyPem: key } = authority.issue(['pay.internal']);
    upstream = createServer(
      { cert, key, ca: authority.certPem, requestCert: true },
      (_request, response) => response.end('paid'),
    );
    upstream.on('secureConnection', (socket) => {
      clients.push(String(socket.getPeerCertificate().subject.CN));
    });
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    stack = await createPlaneStack({
      env: { TLS_CERT_FILE: files.certFile, TLS_KEY_FILE: files.keyFile },
    });
    const { ports } = await stack.startControlPlane();
    dataPlane = await stack.startDataPlane({
      env: {
        CONTROL_PLANE_URL: `https://127.0.0.1:${String(ports[0])}`,
        NODE_EXTRA_CA_CERTS: caFile,
        TLS_CERT_DIR: folder,
      },
    });
    session = connectHttp2(`https://127.0.0.1:${String(dataPlane.ports[0])}`, {
      ca: authority.certPem,
    });
  }, startTimeoutMs);

  afterAll(async () => {
    session.destroy();
    await stack.close();
    upstream.close();
    await files.remove();
    await rm(caFile);
    await rm(folder, { recursive: true });
  });

  async function call(method: string, target: string, body?: object) {
    const stream = session.request({
      ':method': method,
      ':path': target,
      'content-type': 'application/json',
      authorization: `Bearer ${stack.adminToken}`,
    });
    stream.end(body === undefined ? undefined : JSON.stringify(body));
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    return { status: headers[':status'], body: await text(stream) };
  }

  it('serve management calls over HTTP/2 through the data plane, and traffic to an upstream that requires a client certificate', async () => {
    const client = authority.issue(['gateway.test']);
    const service = await call('POST', '/v1/services', {
      name: 'pay',
      environment: 'production',
      url: `https://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      tls: {
        ca_pem: authority.certPem,
        server_name: 'pay.internal',
        client_certificate: { cert_pem: client.certPem, key_pem: client.keyPem },
      },
    });
    expect(service.status).toBe(201);
    expect(service.body).not.toContain('PRIVATE KEY');
    const { data } = JSON.parse(service.body) as { data: { id: string } };
    const route = await call('POST', '/v1/routes', { name: 'pay', service_id: data.id });
    expect(route.status).toBe(201);
    const answer = await eventually(async () => {
      const given = await call('GET', '/v1/proxy/pay');
      expect(given.status).toBe(200);
      return given;
    });
    expect(answer.body).toBe('paid');
    expect(new Set(clients)).toEqual(new Set(['gateway.test']));
  });

  it('load a new certificate at SIGHUP and keep open connections', async () => {
    await files.write(['127.0.0.1', 'renewed.test']);
    process.kill(dataPlane.pid, 'SIGHUP');
    await eventually(async () => {
      const port = Number(dataPlane.ports[0]);
      const socket = connect({ port, host: '127.0.0.1', ca: authority.certPem });
      await once(socket, 'secureConnect');
      const names = socket.getPeerCertificate().subjectaltname;
      socket.destroy();
      expect(names).toContain('renewed.test');
    });
    expect((await call('GET', '/v1/proxy/pay')).body).toBe('paid');
    expect(session.destroyed).toBe(false);
  });

  it('show a certificate of the folder to callers that name it, from SIGHUP on', async () => {
    const { certPem, keyPem } = authority.issue(['shop.test']);
    await mkdir(path.join(folder, 'shop'));
    await writeFile(path.join(folder, 'shop/tls.crt'), certPem);
    await writeFile(path.join(folder, 'shop/tls.key'), keyPem);
    process.kill(dataPlane.pid, 'SIGHUP');
    const port = Number(dataPlane.ports[0]);
    await eventually(async () => {
      const options = { port, host: '127.0.0.1', servername: 'shop.test', ca: authority.certPem };
      const socket = connect(options);
      await once(socket, 'secureConnect');
      socket.destroy();
    });
    const metrics = await (await fetch(`${dataPlane.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/^gateway_tls_certificate_pairs\{state="served"\} 1$/m);
    expect(metrics).toMatch(
      /^gateway_tls_certificate_expiry_timestamp_seconds\{pair="shop\/"\} \d+$/m,
    );
    expect((await call('GET', '/v1/proxy/pay')).body).toBe('paid');
  });
});
