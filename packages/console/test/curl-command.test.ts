import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { curlCommand } from '../src/ui/form/preview/curl-command.ts';
import { withoutSecrets } from '../src/pages/service-form/service-preview.ts';
import { ShellValue, type PreviewedCall } from '../src/ui/form/preview/form-preview.ts';

/** All that JSON and a shell read as more than a character. */
const PAYMENTS_PASSWORD = String.raw`a"b\\c\nd\u0041 $HOME'&/`;
const PEM = '-----BEGIN PRIVATE KEY-----\nab+/=\n-----END PRIVATE KEY-----\n';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'curl-command-'));
  writeFileSync(path.join(folder, 'client-key.pem'), PEM);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The arguments that curl gets if a real shell runs the commands: a list for each. */
function argumentsOf(calls: readonly PreviewedCall[]): string[][] {
  const commands = calls.map((call) => curlCommand(call, 'https://gw.example'));
  const curl = `curl() { for one in "$@"; do printf '%s\\0' "$one"; done; printf 'end\\0'; }`;
  const env = {
    PATH: process.env['PATH'],
    GATEWAY_TOKEN: 'gwt_1',
    PAYMENTS_TOKEN: `s'3 $HOME`,
    PAYMENTS_PASSWORD,
  };
  const script = [curl, ...commands].join('\n');
  const output = execFileSync('sh', ['-c', script], { cwd: folder, env, encoding: 'utf8' });
  return output
    .split('end\0')
    .slice(0, -1)
    .map((one) => one.split('\0').slice(0, -1));
}

/** The body that curl sends. */
const bodyOf = (sent: readonly string[] | undefined): unknown => JSON.parse(sent?.at(-1) ?? '');

it('is a call with the token of a variable, and the ETag that was read', () => {
  const call = { method: 'PATCH', path: '/v1/routes/rte_1', etag: '"7"', body: { a: 1 } } as const;
  expect(argumentsOf([call])).toEqual([
    [
      '--fail-with-body',
      '--request',
      'PATCH',
      'https://gw.example/v1/routes/rte_1',
      '--header',
      'Authorization: Bearer gwt_1',
      '--header',
      'Content-Type: application/json',
      '--header',
      'If-Match: "7"',
      '--data',
      '{\n  "a": 1\n}',
    ],
  ]);
});

it('has secrets of variables, and a private key of a file', () => {
  const token = new ShellValue('$PAYMENTS_TOKEN');
  const key = new ShellValue(String.raw`$(awk 1 ORS='\\n' client-key.pem)`);
  const body = { name: 'secret-0', credential: { token }, tls: { key_pem: key } };
  const [sent] = argumentsOf([{ method: 'POST', path: '/v1/services', body }]);
  expect(bodyOf(sent)).toEqual({
    name: 'secret-0',
    credential: { token: `s'3 $HOME` },
    tls: { key_pem: PEM },
  });
});

it('a password reaches the API as it is, also with quotes and backslashes', () => {
  const typed = { type: 'basic', username: 'ana', password: PAYMENTS_PASSWORD };
  const body = withoutSecrets('payments', { credential: typed });
  const [sent] = argumentsOf([{ method: 'POST', path: '/v1/services', body }]);
  expect(bodyOf(sent)).toMatchObject({ credential: { password: PAYMENTS_PASSWORD } });
});

it('nothing that is typed reaches the shell or changes on the way', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary-ascii', maxLength: 12 }),
    fc.constantFrom(
      "'; reboot '",
      '$(id)',
      '`id`',
      '$GATEWAY_TOKEN',
      '\\',
      "'\\''",
      'secret-0',
      '!!',
      'é\u2028\u202E',
    ),
  );
  const typed = fc.record({ name: text, list: fc.array(text, { maxLength: 3 }) });
  const bodies = fc.sample(typed, { seed: 53, numRuns: 200 });
  const credential = { token: new ShellValue('$PAYMENTS_TOKEN') };
  const sent = argumentsOf(
    bodies.map((body) => ({ method: 'POST', path: '/v1/x', body: { ...body, credential } })),
  );
  expect(sent.map(bodyOf)).toEqual(
    bodies.map((body) => ({ ...body, credential: { token: `s'3 $HOME` } })),
  );
});
