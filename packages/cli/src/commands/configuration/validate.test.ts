import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { runInProcess } from '../../../test/run-in-process.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gwctl-validate-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Without a context and without a gateway. */
function validate(text: string, env: Readonly<Record<string, string>> = {}) {
  const file = path.join(folder, 'gateway.yaml');
  writeFileSync(file, text);
  return runInProcess(['validate', '-f', file], { env: { XDG_CONFIG_HOME: folder, ...env } });
}

const WHOLE = `environment: production
services:
  - name: payments
    url: https://payments.internal:8443
    credential: {type: bearer, token: "\${PAYMENTS_TOKEN}"}
routes:
  - name: charges
    service: payments
    timeout_ms: 5000
  - name: refunds
    service: billing
`;

it('finds no fault without a gateway, and names services that the files do not have', async () => {
  const { code, stdout, stderr } = await validate(WHOLE);
  expect([code, stdout]).toEqual([0, '']);
  const lines = stderr.trim().split('\n');
  expect(lines).toEqual([
    `${folder}/gateway.yaml:11:5: service billing is not in the files; the environment must have it`,
    '1 service and 2 routes: no fault found',
  ]);
});

it('names the line and the column of each fault, in the order of the file', async () => {
  const wrong = WHOLE.replace('5000', '0')
    .replace('https://payments.internal:8443', 'payments')
    .replace('    service: billing\n', '    service: billing\n    colour: red\n');
  const { code, stdout, stderr } = await validate(wrong);
  expect([code, stdout]).toEqual([1, '']);
  const faults = stderr
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^.*gateway\.yaml:/, ''));
  expect(faults).toEqual([
    expect.stringMatching(/^4:5: service payments: url must be an absolute URL/),
    expect.stringMatching(/^9:5: route charges: timeout_ms must be .*1.*300000/),
    expect.stringMatching(/^12:5: route refunds: colour is not a known field/),
  ]);
});

it.each([
  [
    'a contradiction',
    WHOLE.replace('timeout_ms: 5000', 'redirect: {location: /x}'),
    /must be left out/,
  ],
  ['a route without a target', 'routes: [{name: a}]', /service is required/],
  [
    'a secret that is a reference in part',
    WHOLE.replace('${PAYMENTS_TOKEN}', 'a${B}'),
    /whole value/,
  ],
  ['wrong YAML', 'services: [', /gateway\.yaml:\d+:\d+: /],
  ['an environment that is no name', 'environment: [a]\nroutes: []', /environment must be a name/],
])('refuses %s', async (_what, text, message) => {
  const { code, stderr } = await validate(text);
  expect([1, 3]).toContain(code);
  expect(stderr).toMatch(message);
});

it('checks the value of a variable that is set, and never prints it', async () => {
  const { code, stderr } = await validate(WHOLE, { PAYMENTS_TOKEN: 'line\nbreak' });
  expect(code).toBe(1);
  expect(stderr).toMatch(/5:\d+: service payments: credential/);
  expect(stderr).not.toContain('break');
});
