import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCommand } from '@gateway/tools/process/run-command';
import { findDebianTool, type DebianTool } from '@gateway/testing/debian-tool';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { publicKeyOf, readPublicKey, signFile, verifyFile, writePublicKey } from './minisign.ts';
import { makeSecretKey, readSecretKey } from './secret-key.ts';

const COMMENTS = { untrusted: 'signature of a release', trusted: 'gateway 1.2.3' };
const PASSPHRASE = 'correct horse battery';

let folder: string;
let minisign: DebianTool;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'signature-'));
  minisign = await findDebianTool('minisign', 'the tests of signatures');
}, 120_000);
afterAll(() => rm(folder, { recursive: true }));

function runMinisign(...args: string[]) {
  const env = { PATH: process.env['PATH'], HOME: folder, ...minisign.env };
  return runCommand(minisign.file, args, { cwd: folder, env, timeoutMs: 20_000 });
}

async function signed(name: string, content: string) {
  const secret = generateKeyPairSync('ed25519').privateKey;
  const file = path.join(folder, name);
  await writeFile(file, content);
  await writeFile(`${file}.minisig`, signFile(Buffer.from(content), secret, COMMENTS));
  await writeFile(`${file}.pub`, writePublicKey(publicKeyOf(secret)));
  return file;
}

it('are verified by minisign, with their trusted comment', async () => {
  const file = await signed('sums', 'a file\n');
  const { code, output } = await runMinisign('-V', '-H', '-p', `${file}.pub`, '-m', file);
  expect(output).toContain('Trusted comment: gateway 1.2.3');
  expect(code).toBe(0);
});

it.each([
  ['the file', '', 'another file\n'],
  ['the trusted comment', '.minisig', undefined],
])('are refused by minisign and here if %s was changed', async (_what, suffix, content) => {
  const file = await signed(`changed${suffix}`, 'a file\n');
  const text = await readFile(`${file}${suffix}`, 'utf8');
  await writeFile(`${file}${suffix}`, content ?? text.replace('gateway 1.2.3', 'gateway 1.2.4'));
  const { code } = await runMinisign('-V', '-p', `${file}.pub`, '-m', file);
  expect(code).not.toBe(0);
  const read = (name: string) => readFile(name, 'utf8');
  const key = readPublicKey(await read(`${file}.pub`));
  const signature = await read(`${file}.minisig`);
  expect(() => verifyFile(Buffer.from(content ?? 'a file\n'), signature, key)).toThrow('changed');
});

it('of minisign itself are verified here', async () => {
  const file = path.join(folder, 'theirs');
  await writeFile(file, 'signed by minisign\n');
  const keys = ['-p', `${file}.pub`, '-s', `${file}.key`];
  expect((await runMinisign('-G', '-W', ...keys)).code).toBe(0);
  const sign = ['-S', '-H', '-t', 'made by minisign', '-m', file, '-s', `${file}.key`];
  expect((await runMinisign(...sign)).code).toBe(0);
  const key = readPublicKey(await readFile(`${file}.pub`, 'utf8'));
  const signature = await readFile(`${file}.minisig`, 'utf8');
  const content = await readFile(file);
  expect(verifyFile(content, signature, key)).toBe('made by minisign');
  const other = publicKeyOf(generateKeyPairSync('ed25519').privateKey);
  expect(() => verifyFile(content, signature, other)).toThrow('signed with the key');
});

it('are the same text for the same file and key', () => {
  const secret = generateKeyPairSync('ed25519').privateKey;
  const [first, second] = [1, 2].map(() => signFile(Buffer.from('x'), secret, COMMENTS));
  expect(second).toBe(first);
  expect(() => signFile(Buffer.from('x'), secret, { ...COMMENTS, trusted: 'a\nb' })).toThrow(
    'one line',
  );
});

it('have a secret key that is encrypted, private and outside of the repository', async () => {
  const repository = path.join(folder, 'repository');
  await mkdir(repository);
  const inside = path.join(repository, 'key.pem');
  await expect(makeSecretKey(inside, PASSPHRASE, repository)).rejects.toThrow('outside');
  const file = path.join(folder, 'keys/key.pem');
  await expect(makeSecretKey(file, 'short', repository)).rejects.toThrow('at least 12 characters');
  const publicText = await makeSecretKey(file, PASSPHRASE, repository);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);
  expect(await readFile(file, 'utf8')).toContain('ENCRYPTED PRIVATE KEY');
  const secret = await readSecretKey(file, PASSPHRASE);
  expect(writePublicKey(publicKeyOf(secret))).toBe(publicText);
  await expect(readSecretKey(file, 'another passphrase')).rejects.toThrow('cannot be read');
  await expect(makeSecretKey(file, PASSPHRASE, repository)).rejects.toThrow('EEXIST');
});
