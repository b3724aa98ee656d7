// Run by new-field.long.test.ts in a copy of the tree that has the field `max_query_bytes` of a route. Ends with an error
// if the field is not everywhere where a field is.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runOrThrow } from '@gateway/tools/process/run-command';
import { startConsoleWorld } from '../console/harness/console-world.ts';
import { unfold } from '../console/harness/fold.ts';
import type { Client } from '../harness/client.ts';

const LONG_QUERY = `?${'q'.repeat(99)}`;
const GWCTL = fileURLToPath(new URL('../../packages/cli/bin/gwctl.mjs', import.meta.url));
const LIMITS = new URL('../../docs/use/policies/limits.md', import.meta.url);

const world = await startConsoleWorld();
try {
  const { gateway } = world;
  const { admin } = gateway;
  const status = async (): Promise<number> =>
    (await admin.call('GET', `/v1/proxy/searches${LONG_QUERY}`)).status;
  const stored = async (): Promise<unknown> =>
    (await admin.get(path)).resource()['max_query_bytes'];

  // The API: the default, the bound, and a value that a data plane enforces.
  const { id } = await gateway.route({ name: 'searches' });
  const path = `/v1/routes/${id}`;
  assert.equal(await stored(), 16_384);
  await gateway.settled();
  assert.equal(await status(), 200);
  assert.equal((await admin.patch(path, { max_query_bytes: 65_537 })).status, 400);
  assert.equal((await admin.patch(path, { max_query_bytes: 50 })).status, 200);
  await gateway.settled();
  assert.equal(await status(), 400);

  // gwctl: the option, the export, and --set.
  const gwctl = gwctlOf(admin);
  await gwctl(['routes', 'update', 'searches', '--max-query-bytes', '200']);
  await gateway.settled();
  assert.equal(await status(), 200);
  const exported = await gwctl(['export', '--environment', 'production']);
  assert.match(exported, /max_query_bytes: 200/);
  await gwctl(['routes', 'update', 'searches', '--set', 'max_query_bytes=60']);
  assert.equal(await stored(), 60);

  // The console: the form has the control, and saves it.
  const { page, signIn } = await world.open(`/routes/${id}/edit`);
  await signIn();
  const field = page.getByLabel('Query size limit');
  // A field that no section of the form names is below More.
  await unfold(page, 'More');
  assert.equal(await field.inputValue(), '60 bytes');
  await field.fill('70');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Route searches was saved.').waitFor();
  assert.equal(await stored(), 70);

  // The document and the page of the policy.
  const document = (await admin.get('/v1/openapi.json')).body;
  assert.match(document, /"max_query_bytes":\{[^}]*"maximum":65536/);
  assert.match(await readFile(LIMITS, 'utf8'), /^\| `max_query_bytes` +\| 16 384 /m);
} finally {
  await world.close();
}

function gwctlOf({ baseUrl, token }: Client): (args: readonly string[]) => Promise<string> {
  const env = { ...process.env, GATEWAY_URL: baseUrl, GATEWAY_TOKEN: token };
  return async (args) => runOrThrow(process.execPath, [GWCTL, ...args], { env, timeoutMs: 30_000 });
}
