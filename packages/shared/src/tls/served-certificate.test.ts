import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { parseEnvironment } from '../config/environment.ts';
import { createTestAuthority, type TestCertificate } from '../../test/certificates.ts';
import { eventually } from '../../test/eventually.ts';
import { manualClock } from '../../test/manual-clock.ts';
import { openServedCertificate, type ServedCertificate } from './served-certificate.ts';
import { certificateFiles, requireBothTlsFiles, tlsVariables } from './tls-variables.ts';

const authority = createTestAuthority('test authority');
const clock = manualClock();
let folder: string;
let log: string[];
let registry: Registry;
let opened: ServedCertificate[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-tls-'));
  log = [];
  opened = [];
  registry = new Registry();
});

afterEach(async () => {
  for (const certificate of opened) certificate.stop();
  await rm(folder, { recursive: true });
});

const files = () => ({ certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') });

async function write({ certPem, keyPem }: TestCertificate): Promise<void> {
  await writeFile(files().certFile, certPem);
  await writeFile(files().keyFile, keyPem);
}

async function open(): Promise<ServedCertificate> {
  const logger = pino({}, { write: (line: string) => void log.push(line) });
  const options = { files: files(), intervalMs: 1000, clock, log: logger, registry };
  const certificate = await openServedCertificate(options);
  opened.push(certificate);
  return certificate;
}

const shown = (certificate: ServedCertificate) =>
  new X509Certificate(certificate.context.cert as Buffer).subject;

const reloads = (result: string) =>
  registry
    .getSingleMetricAsString('gateway_tls_certificate_reloads_total')
    .then((text) => Number(new RegExp(`"${result}"} (\\d+)`).exec(text)?.[1] ?? 0));

describe('a served certificate', () => {
  it('is accepted by a TLS client that trusts its authority, and by no other', async () => {
    await write(authority.issue(['gateway.test', '127.0.0.1']));
    const server = createServer((await open()).context);
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const shake = (ca: string, servername: string) =>
      new Promise<string>((resolve) => {
        const socket: TLSSocket = connect({ port, host: '127.0.0.1', ca, servername });
        socket.once('secureConnect', () => {
          resolve('connected');
          socket.destroy();
        });
        socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
      });
    expect(await shake(authority.certPem, 'gateway.test')).toBe('connected');
    expect(await shake(authority.certPem, 'other.test')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    const stranger = createTestAuthority('another authority').certPem;
    expect(await shake(stranger, 'gateway.test')).not.toBe('connected');
    await new Promise((resolve) => server.close(resolve));
  });

  it('is reloaded when the files change, by the clock and on request', async () => {
    await write(authority.issue(['one.test']));
    const certificate = await open();
    const used: unknown[] = [];
    certificate.onChange((context) => used.push(context.cert));

    await write(authority.issue(['two.test']));
    clock.advance(1000);
    await eventually(() => expect(shown(certificate)).toBe('CN=two.test'));
    await write(authority.issue(['three.test']));
    await certificate.reload();
    expect(shown(certificate)).toBe('CN=three.test');
    expect(used).toHaveLength(2);
    await certificate.reload();
    expect(await reloads('used')).toBe(2);
  });

  it('stays in use if the new pair is invalid, which is logged once and without the key', async () => {
    await write(authority.issue(['one.test']));
    const certificate = await open();
    const next = authority.issue(['two.test']);

    await writeFile(files().certFile, next.certPem);
    await certificate.reload();
    await certificate.reload();
    expect(shown(certificate)).toBe('CN=one.test');
    await writeFile(files().keyFile, 'not a key');
    await certificate.reload();
    await rm(files().keyFile);
    await certificate.reload();
    await certificate.reload();
    expect(shown(certificate)).toBe('CN=one.test');
    expect(await reloads('refused')).toBe(3);
    expect(log.join('')).not.toContain('not a key');

    await writeFile(files().keyFile, next.keyPem);
    await certificate.reload();
    expect(shown(certificate)).toBe('CN=two.test');
  });

  it('fails the start if the first pair is missing or invalid', async () => {
    await expect(open()).rejects.toThrow(/tls\.(crt|key) cannot be read \(ENOENT\)/);
    const { certPem } = authority.issue(['one.test']);
    await write({ certPem, keyPem: authority.issue(['two.test']).keyPem });
    await expect(open()).rejects.toThrow('are not a certificate and its key');
  });

  it('exports its expiry', async () => {
    const untilMs = Date.UTC(2040, 5, 1);
    await write(authority.issue(['one.test'], { untilMs }));
    await open();
    const name = 'gateway_tls_certificate_expiry_timestamp_seconds';
    expect(await registry.getSingleMetricAsString(name)).toContain(`${name} ${untilMs / 1000}`);
  });
});

describe('the settings of TLS', () => {
  const schema = z.object(tlsVariables).superRefine(requireBothTlsFiles);

  it('are both files or neither', () => {
    expect(certificateFiles(parseEnvironment(schema, {}))).toBeUndefined();
    const both = parseEnvironment(schema, { TLS_CERT_FILE: 'c', TLS_KEY_FILE: 'k' });
    expect(certificateFiles(both)).toEqual({ certFile: 'c', keyFile: 'k' });
    expect(() => parseEnvironment(schema, { TLS_CERT_FILE: 'c' })).toThrow(
      'TLS_KEY_FILE is not set',
    );
    expect(() => parseEnvironment(schema, { TLS_KEY_FILE: 'k' })).toThrow(
      'TLS_CERT_FILE is not set',
    );
  });

  it('need both files beside a folder', () => {
    const withFolder = z
      .object({ ...tlsVariables, TLS_CERT_DIR: z.string().optional() })
      .superRefine(requireBothTlsFiles);
    const folder = { TLS_CERT_DIR: 'd' };
    expect(() => parseEnvironment(withFolder, folder)).toThrow(
      'TLS_CERT_DIR: needs TLS_CERT_FILE and TLS_KEY_FILE, the pair for all other names',
    );
    expect(() => parseEnvironment(withFolder, { ...folder, TLS_CERT_FILE: 'c' })).toThrow(
      'TLS_KEY_FILE is not set',
    );
  });
});
