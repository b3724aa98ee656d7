import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { masterKeysVariable } from '@gateway/shared/config/master-keys';
import { isTokenSecret } from '@gateway/shared/tokens/secret';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { resourcesOf, valuesOf } from './manifests.ts';

const script = fileURLToPath(new URL('make-secrets.sh', import.meta.url));
const DATABASE_URL = "postgres://gateway:it's%20me@db.example.com:5432/gateway?sslmode=verify-full";

interface Secret {
  readonly metadata: { readonly name: string };
  readonly stringData: Readonly<Record<string, string>>;
}

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'make-secrets-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function made(env: Readonly<Record<string, string>> = {}): Promise<Map<string, string>> {
  execFileSync(script, [folder], { env: { PATH: process.env['PATH'], ...env } });
  const text = await readFile(path.join(folder, 'secrets.yaml'), 'utf8');
  const secrets = parseAllDocuments(text).map((one) => one.toJS() as Secret);
  return new Map(
    secrets.flatMap(({ metadata, stringData }) =>
      Object.entries(stringData).map(([key, value]) => [`${metadata.name}/${key}`, value] as const),
    ),
  );
}

it('makes every Secret that the manifests read, in the form that the planes accept', async () => {
  const secrets = await made();
  const resources = resourcesOf('base', 'components/postgres');
  const references = resources.flatMap((one) => valuesOf(one, 'secretKeyRef')) as {
    name: string;
    key: string;
    optional?: boolean;
  }[];
  const missing = references
    .filter(({ optional }) => optional !== true)
    .map(({ name, key }) => `${name}/${key}`)
    .filter((name) => !secrets.has(name));
  expect(missing).toEqual([]);
  expect(isTokenSecret(secrets.get('control-plane/GATEWAY_ADMIN_TOKEN') ?? '')).toBe(true);
  const masterKeys = secrets.get('gateway-master-keys/GATEWAY_MASTER_KEYS');
  expect(masterKeysVariable.safeParse(masterKeys).success).toBe(true);
  expect(secrets.get('control-plane/DATABASE_URL')).toBe(
    `postgres://gateway:${secrets.get('postgres/POSTGRES_PASSWORD')}@postgres:5432/gateway`,
  );
});

it('makes a certificate of its own authority, for the names that the servers and planes use', async () => {
  const secrets = await made({ NAMESPACE: 'edge' });
  const certificate = new X509Certificate(secrets.get('nats-tls/tls.crt') ?? '');
  const authority = new X509Certificate(secrets.get('nats-tls/ca.crt') ?? '');
  expect(certificate.verify(authority.publicKey)).toBe(true);
  for (const name of ['nats', 'nats.edge.svc', 'nats-2.nats-headless']) {
    expect(certificate.checkHost(name)).toBe(name);
  }
});

it('keeps every secret when it is run again, and only its owner may read them', async () => {
  const before = await made();
  const after = await made({ DATABASE_URL });
  expect(after.get('control-plane/DATABASE_URL')).toBe(DATABASE_URL);
  expect((await made()).get('control-plane/DATABASE_URL')).toBe(DATABASE_URL);
  before.delete('control-plane/DATABASE_URL');
  after.delete('control-plane/DATABASE_URL');
  expect(after).toEqual(before);
  for (const file of ['secrets.yaml', 'master-key', 'ca.key']) {
    expect((await stat(path.join(folder, file))).mode & 0o077).toBe(0);
  }
});
