import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createTestAuthority, type TestCertificate } from '../../test/certificates.ts';
import { eventually } from '../../test/eventually.ts';
import { manualClock } from '../../test/manual-clock.ts';
import { openServedCertificate, type ServedCertificate } from './served-certificate.ts';

interface LogLine {
  readonly msg: string;
  readonly pair?: string;
  readonly reason?: string;
}

const authority = createTestAuthority('folder');
const clock = manualClock();
const DAY_MS = 86_400_000;
let root: string;
let folder: string;
let log: LogLine[];
let registry: Registry;
let opened: ServedCertificate | undefined;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'gateway-tls-'));
  folder = join(root, 'certificates');
  await mkdir(folder);
  log = [];
  registry = new Registry();
  await write('../tls', authority.issue(['port.test']));
});

afterEach(async () => {
  opened?.stop();
  opened = undefined;
  await rm(root, { recursive: true });
});

const at = (name: string) => join(folder, name);

async function put(name: string, text: string): Promise<void> {
  await mkdir(dirname(at(name)), { recursive: true });
  await writeFile(at(name), text);
}

/** Writes `NAME.crt` and `NAME.key`. */
async function write(name: string, { certPem, keyPem }: TestCertificate): Promise<void> {
  await put(`${name}.crt`, certPem);
  await put(`${name}.key`, keyPem);
}

async function open(): Promise<ServedCertificate> {
  const write = (line: string) => void log.push(JSON.parse(line) as LogLine);
  opened = await openServedCertificate({
    files: { certFile: join(root, 'tls.crt'), keyFile: join(root, 'tls.key') },
    folder,
    intervalMs: 1000,
    clock,
    log: pino({}, { write }),
    registry,
  });
  return opened;
}

/** The names of the certificate that is chosen for a name. */
function chosen({ folder: pairs }: ServedCertificate, name: string): string[] | undefined {
  const names = pairs?.select(name)?.names.dns;
  return names === undefined ? undefined : [...names];
}

const metrics = async (name: string) =>
  (await registry.getSingleMetricAsString(name))
    .split('\n')
    .filter((line) => !line.startsWith('#'));

const reasons = () => log.flatMap(({ reason }) => (reason === undefined ? [] : [reason]));

describe('a folder of certificates', () => {
  it('takes the files of Kubernetes, certbot and lego, and pairs by name', async () => {
    const files = async (certName: string, keyName: string, name: string) => {
      const { certPem, keyPem } = authority.issue([name]);
      await put(certName, certPem);
      await put(keyName, keyPem);
    };
    await files('plain.crt', 'plain.key', 'plain.test');
    await files('live.test/fullchain.pem', 'live.test/privkey.pem', 'certbot.test');
    await put('live.test/cert.pem', 'not read');
    await put('README', 'not read');
    await put('_.lego.test.json', '{}');
    await put('_.lego.test.issuer.crt', authority.certPem);
    await files('_.lego.test.crt', '_.lego.test.key', '*.lego.test');
    await put('ca.crt', authority.certPem);
    // Kubernetes mounts a secret as links to a folder whose name begins with a dot.
    await files('secret/..2030/tls.crt', 'secret/..2030/tls.key', 'secret.test');
    for (const name of ['tls.crt', 'tls.key'])
      await symlink(`..2030/${name}`, at(`secret/${name}`));
    await mkdir(at('optional-secret-without-content'));
    const certificate = await open();
    for (const name of ['plain.test', 'certbot.test', 'secret.test']) {
      expect(chosen(certificate, name)).toEqual([name]);
    }
    expect(chosen(certificate, 'A.Lego.Test')).toEqual(['*.lego.test']);
    expect(chosen(certificate, 'lego.test')).toBeUndefined();
    expect(chosen(certificate, 'a.b.lego.test')).toBeUndefined();
    expect(chosen(certificate, 'port.test')).toBeUndefined();
    expect(reasons()).toEqual([]);
    expect(await metrics('gateway_tls_certificate_pairs')).toEqual([
      'gateway_tls_certificate_pairs{state="served"} 4',
      'gateway_tls_certificate_pairs{state="refused"} 0',
    ]);
  });

  it('is read again by the clock: new, changed and removed pairs', async () => {
    await write('a', authority.issue(['a.test']));
    const certificate = await open();
    const before = certificate.folder?.select('a.test')?.context;
    await write('b', authority.issue(['b.test']));
    clock.advance(1000);
    await eventually(() => expect(chosen(certificate, 'b.test')).toEqual(['b.test']));
    // An unchanged pair keeps its context.
    expect(certificate.folder?.select('a.test')?.context).toBe(before);
    await write('a', authority.issue(['a.test', 'more.test']));
    clock.advance(1000);
    await eventually(() =>
      expect(chosen(certificate, 'more.test')).toEqual(['a.test', 'more.test']),
    );
    await rm(at('a.crt'));
    await rm(at('a.key'));
    clock.advance(1000);
    await eventually(() => expect(chosen(certificate, 'a.test')).toBeUndefined());
    expect(chosen(certificate, 'b.test')).toEqual(['b.test']);
    expect(await metrics('gateway_tls_certificate_reloads_total')).toContain(
      'gateway_tls_certificate_reloads_total{result="used"} 2',
    );
    expect(
      log.filter(({ pair }) => pair !== undefined).map(({ msg, pair }) => [msg, pair]),
    ).toEqual([
      ['certificate reloaded', 'b'],
      ['certificate reloaded', 'a'],
      ['certificate removed', 'a'],
    ]);
  });

  it('reports an invalid pair once, with its files and the rule, and keeps the last valid one', async () => {
    await write('a', authority.issue(['a.test']));
    const bad = authority.issue(['bad.test']);
    await write('bad', { certPem: bad.certPem, keyPem: authority.issue(['x.test']).keyPem });
    const certificate = await open();
    expect(chosen(certificate, 'bad.test')).toBeUndefined();
    expect(reasons()).toEqual([
      `${at('bad.crt')} and ${at('bad.key')} are not a certificate and its key (ERR_OSSL_X509_KEY_VALUES_MISMATCH)`,
    ]);
    log.length = 0;

    const next = authority.issue(['next.test']);
    await put('a.crt', next.certPem);
    await certificate.reload();
    await certificate.reload();
    expect(chosen(certificate, 'a.test')).toEqual(['a.test']);
    await rm(at('a.key'));
    await certificate.reload();
    await certificate.reload();
    expect(reasons()).toEqual([
      `${at('a.crt')} and ${at('a.key')} are not a certificate and its key (ERR_OSSL_X509_KEY_VALUES_MISMATCH)`,
      `${at('a.key')} cannot be read (ENOENT)`,
    ]);
    expect(chosen(certificate, 'a.test')).toEqual(['a.test']);
    expect(await metrics('gateway_tls_certificate_pairs')).toEqual([
      'gateway_tls_certificate_pairs{state="served"} 1',
      'gateway_tls_certificate_pairs{state="refused"} 2',
    ]);
    expect(await metrics('gateway_tls_certificate_reloads_total')).toContain(
      'gateway_tls_certificate_reloads_total{result="refused"} 3',
    );

    await put('a.key', next.keyPem);
    await put('bad.key', bad.keyPem);
    await certificate.reload();
    expect(chosen(certificate, 'next.test')).toEqual(['next.test']);
    expect(chosen(certificate, 'bad.test')).toEqual(['bad.test']);
    expect(chosen(certificate, 'a.test')).toBeUndefined();
    expect(await metrics('gateway_tls_certificate_pairs')).toContain(
      'gateway_tls_certificate_pairs{state="refused"} 0',
    );
  });

  it('counts a pair as used again when its former files return', async () => {
    await write('a', authority.issue(['a.test']));
    const certificate = await open();
    const key = await readFile(at('a.key'), 'utf8');
    await rm(at('a.key'));
    await certificate.reload();
    await put('a.key', key);
    await certificate.reload();
    expect(await metrics('gateway_tls_certificate_pairs')).toContain(
      'gateway_tls_certificate_pairs{state="refused"} 0',
    );
  });

  it('refuses a pair without a DNS name, one that is too large, and a folder with other files', async () => {
    await write('address', authority.issue(['127.0.0.1']));
    await write('large', authority.issue(['large.test']));
    await put('large.crt', 'x'.repeat(256 * 1024 + 1));
    await put('other/cert.pem', 'x');
    const certificate = await open();
    expect(reasons()).toEqual([
      `${at('address.crt')} must have a DNS name in subjectAltName`,
      `${at('large.crt')} must be a file of at most 262144 bytes`,
      `${at('other/tls.crt')} cannot be read (ENOENT)`,
    ]);
    expect(certificate.folder?.count('served')).toBe(0);
  });

  it('serves the pair whose validity began last, if several have a name; an exact name wins', async () => {
    const nowMs = Date.now();
    const from = (days: number) => ({ fromMs: nowMs - days * DAY_MS });
    await write('new', authority.issue(['a.test', 'new.test'], from(1)));
    await write('old', authority.issue(['a.test', 'old.test'], from(2)));
    await write('same', authority.issue(['a.test', 'same.test'], from(1)));
    await write('wild', authority.issue(['*.x.test'], from(0)));
    await write('exact', authority.issue(['b.x.test'], from(9)));
    const certificate = await open();
    expect(chosen(certificate, 'a.test')).toEqual(['a.test', 'new.test']);
    expect(chosen(certificate, 'old.test')).toEqual(['a.test', 'old.test']);
    expect(chosen(certificate, 'b.x.test')).toEqual(['b.x.test']);
    expect(chosen(certificate, 'c.x.test')).toEqual(['*.x.test']);
  });

  it('keeps all pairs while it cannot be read, and must be readable at the start', async () => {
    await write('a', authority.issue(['a.test']));
    const certificate = await open();
    await rename(folder, `${folder}-away`);
    await certificate.reload();
    await certificate.reload();
    expect(chosen(certificate, 'a.test')).toEqual(['a.test']);
    expect(reasons()).toEqual([`${folder} cannot be read (ENOENT)`]);
    certificate.stop();
    registry.clear();
    await expect(open()).rejects.toThrow(`${folder} cannot be read (ENOENT)`);
    await rename(`${folder}-away`, folder);
  });

  it('has at most 1000 pairs, and a new one displaces none', async () => {
    const pair = authority.issue(['a.test']);
    for (let index = 1000; index < 2000; index += 1) await write(`pair-${index}`, pair);
    const certificate = await open();
    const last = authority.issue(['last.test']);
    await write('pair-1999', last);
    await write('a-new-one', authority.issue(['new.test']));
    await certificate.reload();
    await certificate.reload();
    expect(certificate.folder?.count('served')).toBe(1000);
    expect(chosen(certificate, 'last.test')).toEqual(['last.test']);
    expect(chosen(certificate, 'new.test')).toBeUndefined();
    expect(reasons()).toEqual([
      `${folder} must have at most 1000 pairs; not read: a-new-one and those after it`,
    ]);
  });

  it('exports the expiry of each certificate; that of the port has no name', async () => {
    const untilMs = Date.UTC(2040, 5, 1);
    await write('a', authority.issue(['a.test'], { untilMs }));
    await open();
    const lines = await metrics('gateway_tls_certificate_expiry_timestamp_seconds');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('{pair=""}');
    expect(lines[1]).toBe(
      `gateway_tls_certificate_expiry_timestamp_seconds{pair="a"} ${untilMs / 1000}`,
    );
  });
});
