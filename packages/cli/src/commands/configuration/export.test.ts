import { readFileSync } from 'node:fs';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openConfigurationTest, type ConfigurationTest } from '../../../test/configuration.ts';

let test: ConfigurationTest;
beforeAll(async () => void (test = await openConfigurationTest()));
afterAll(() => test.close());

const { certPem, keyPem } = createTestAuthority('upstreams').issue(['client.test']);

/** Applies services of every credential, and routes with many settings. */
async function filled(): Promise<string> {
  const environment = await test.newEnvironment();
  const stdin = JSON.stringify({
    services: [
      {
        name: 'yes - no.',
        url: 'https://a.example/base',
        credential: { type: 'basic', username: 'user', password: 'marker' },
        tls: { ca_pem: certPem, client_certificate: { cert_pem: certPem, key_pem: keyPem } },
      },
      {
        name: '1',
        upstreams: [{ url: 'http://b.example', region: 'eu', weight: 3 }],
        credential: { type: 'header', name: 'X-Key', value: 'marker' },
      },
      { name: 'b', url: 'http://c.example', credential: { type: 'bearer', token: 'marker' } },
    ],
    routes: [
      { name: 'null', service: '1', methods: ['GET'], rate_limit: { limit: 7, per: 'token' } },
      { name: '0x10', versions: [{ name: 'no', service: 'b', weight: 1 }] },
    ],
  });
  const applied = await test.run(`apply -f - --environment ${environment}`, { stdin });
  expect(applied.stderr).toBe('');
  return environment;
}

it.each(['yaml', 'json'])('export -o %s | apply changes nothing', async (format) => {
  const environment = await filled();
  const exported = await test.run(`export --environment ${environment} -o ${format}`);
  expect(exported).toMatchObject({ code: 0, stderr: '' });
  expect(exported.stdout).not.toContain('marker');
  expect(exported.stdout).not.toContain('PRIVATE KEY');
  expect(exported.stdout).toContain('${B_TOKEN}');
  const applied = await test.run('apply -f - --prune --yes', { stdin: exported.stdout });
  expect([applied.code, applied.stdout]).toEqual([
    0,
    `${environment}: nothing to change, 5 unchanged\n`,
  ]);
  const again = await test.run(`export --environment ${environment} -o ${format}`);
  expect(again.stdout).toBe(exported.stdout);
});

it('writes a file that makes the same environment elsewhere, with secrets of variables', async () => {
  const [environment, other] = [await filled(), await test.newEnvironment()];
  const file = test.write('export.yaml', 'an older export');
  const exported = await test.run(`export --environment ${environment} -f ${file}`);
  expect(exported).toEqual({ code: 0, stdout: '', stderr: '' });
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(`        cert_pem: |\n          -----BEGIN CERTIFICATE-----\n`);
  const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const env = Object.fromEntries(
    names.map((name) => [name, name.endsWith('CLIENT_KEY') ? keyPem : 'marker']),
  );
  const copy = test.write('copy.yaml', text.replace(/^environment: .*\n/, ''));
  const applied = await test.run(`apply -f ${copy} --environment ${other}`, { env });
  expect([applied.code, applied.stderr]).toEqual([0, '']);
  const exportedCopy = await test.run(`export --environment ${other}`);
  expect(exportedCopy.stdout).toBe(text.replace(environment, other));
});

it('needs an environment that exists, and a place to write to', async () => {
  expect((await test.run('export')).code).toBe(3);
  const unknown = await test.run('export --environment nowhere');
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringContaining('(404 environment_not_found)'),
  ]);
  const nowhere = await test.run('export --environment production -f /nowhere/a.yaml');
  expect([nowhere.code, nowhere.stderr]).toEqual([
    3,
    expect.stringContaining('/nowhere/a.yaml cannot be written: '),
  ]);
});
