import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findPrometheus } from '@gateway/local-stack/test/prometheus';
import { beforeAll, expect, it } from '@jest/globals';

const folder = fileURLToPath(new URL('.', import.meta.url));
let promtool: string;

beforeAll(async () => {
  ({ promtool } = await findPrometheus({ log: () => undefined }));
}, 180_000);

/** Throws with what promtool found. */
const run = (...args: string[]) =>
  execFileSync(promtool, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });

it('promtool accepts the rules', () => {
  expect(run('check', 'rules', 'rules.yml')).toMatch(/SUCCESS: \d+ rules found/);
});

it.each(['objectives', 'page', 'ticket'])(
  'the alerts of rules-%s.test.yml fire for the series that they should fire for',
  (subject) => {
    expect(run('test', 'rules', `rules-${subject}.test.yml`)).toContain('SUCCESS');
  },
);
