import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openConfigurationTest, type ConfigurationTest } from '../../../test/configuration.ts';

/**
 * Each `<name>.<format>.<ending>` becomes `golden/<name>.<format>.gateway.yaml`, and what is said on stderr is in
 * `golden/<name>.<format>.remarks.txt`. UPDATE_GOLDEN=1 writes both again; review their differences.
 */
const folder = new URL('../../../test/convert/', import.meta.url);
const sources = readdirSync(folder).filter((name) =>
  /\.(kong\.yaml|nginx\.conf|apisix\.yaml)$/.test(name),
);

let test: ConfigurationTest;
let environment: string;
beforeAll(async () => {
  test = await openConfigurationTest();
  environment = await test.newEnvironment();
});
afterAll(() => test.close());

const text = (name: string) => readFileSync(new URL(name, folder), 'utf8');

function convert(name: string, options = '') {
  const format = name.split('.')[1] ?? '';
  return test.run(`convert ${format} - ${options}`.trim(), { stdin: text(name) });
}

describe.each(sources)('%s', (source) => {
  const base = source.replace(/\.\w+$/, '');

  it('becomes the file and the remarks that were reviewed', async () => {
    const { code, stdout, stderr } = await convert(source);
    const written = { 'gateway.yaml': stdout, 'remarks.txt': stderr };
    for (const [ending, now] of Object.entries(written)) {
      const golden = `golden/${base}.${ending}`;
      if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(new URL(golden, folder), now);
      expect(now).toBe(text(golden));
    }
    expect(code).toBe(source.startsWith('open') ? 0 : 2);
  });

  it('becomes a file that the gateway accepts', async () => {
    const { stdout } = await convert(source);
    const { code, stderr } = await test.run(`diff -f - --environment ${environment}`, {
      stdin: stdout,
    });
    expect([code, stderr]).toEqual([0, '']);
  });

  it('loses no secret to the result', async () => {
    const { stdout, stderr } = await convert(source);
    expect(stdout + stderr).not.toContain('marker');
  });
});
