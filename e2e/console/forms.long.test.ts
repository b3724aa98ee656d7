import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { runOrThrow } from '@gateway/tools/process/run-command';
import type { Locator, Page } from 'playwright-core';
import { accessibilityFaults } from './harness/axe.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';
import { unfold } from './harness/fold.ts';

const GWCTL = fileURLToPath(new URL('../../packages/cli/bin/gwctl.mjs', import.meta.url));
const RUN_MS = 30_000;

describe('forms in the console', () => {
  let world: ConsoleWorld;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'console-forms-'));
    world = await borrowConsoleWorld();
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true });
  });

  const row = (page: Page, title: string) => page.getByRole('button', { name: title, exact: true });
  const isFocused = (field: Locator) =>
    eventually(async () => expect(await field.and(field.page().locator(':focus')).count()).toBe(1));
  const environment = () => {
    const { baseUrl: GATEWAY_URL, token: GATEWAY_TOKEN } = world.gateway.admin;
    return { PATH: process.env['PATH'] ?? '', GATEWAY_URL, GATEWAY_TOKEN };
  };
  const gwctl = (...args: readonly string[]) =>
    runOrThrow(process.execPath, [GWCTL, ...args], {
      env: { ...process.env, ...environment() },
      timeoutMs: RUN_MS,
    });
  /** Runs a command that the console shows. */
  const shell = (command: string) =>
    runOrThrow('sh', ['-c', command.replace('--fail-with-body', '--silent')], {
      env: environment(),
      timeoutMs: RUN_MS,
    });

  it('ask for what is needed, fold the rest, and unfold what is wrong', async () => {
    await world.gateway.service({ name: 'folded' });
    const { page } = await world.visit('/routes');
    await page.getByRole('button', { name: 'New route' }).click();
    await isFocused(page.getByLabel('Name', { exact: true }));
    await page.keyboard.type('folded');
    for (const title of ['Quota', 'Time and retries', 'Log']) {
      expect(await row(page, title).getAttribute('aria-expanded')).toBe('false');
    }
    expect(await page.getByLabel('Deadline', { exact: true }).isVisible()).toBe(false);
    await page.getByRole('combobox', { name: 'Service' }).click();
    await page.getByRole('option', { name: 'folded' }).click();

    // By keyboard, and what was typed stays when it is folded again.
    await row(page, 'Time and retries').focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Deadline', { exact: true }).fill('soon');
    await page.getByLabel('Retries', { exact: true }).fill('0');
    await row(page, 'Time and retries').click();
    const section = page.getByRole('region', { name: 'Time and retries' });
    await section.getByText('changed', { exact: true }).waitFor();
    await page.getByText('4 changes').waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('alert').waitFor();
    await isFocused(page.getByLabel('Deadline', { exact: true }));
    expect(await row(page, 'Time and retries').getAttribute('aria-expanded')).toBe('true');
    expect(await row(page, 'Quota').getAttribute('aria-expanded')).toBe('false');
    expect(await accessibilityFaults(page)).toEqual([]);
    await row(page, 'Time and retries').click();
    await page.getByRole('alert').getByRole('button', { name: 'Deadline' }).click();
    await isFocused(page.getByLabel('Deadline', { exact: true }));

    // The notice leads to the field, also after its section was folded.
    await row(page, 'Time and retries').click();
    await page.getByRole('alert').getByRole('button', { name: 'Deadline' }).click();
    await isFocused(page.getByLabel('Deadline', { exact: true }));

    await page.keyboard.press('Control+A');
    await page.keyboard.type('2000');
    await section.getByText('1 attempt within 2 s: nothing is repeated.').waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('heading', { name: 'folded', exact: true }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Routes', exact: true }).waitFor();
  });

  it('lead from a service to its first route, and from there to its first request', async () => {
    const { page } = await world.visit('/services/new');
    await isFocused(page.getByLabel('Name', { exact: true }));
    await page.keyboard.type('next');
    await page.getByLabel('URL').fill(world.gateway.upstream.url);
    await page.getByRole('button', { name: 'Create service' }).click();
    await page.getByRole('heading', { name: 'next', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Create a route' }).click();
    await page.getByRole('heading', { name: 'New route in production' }).waitFor();
    const service = page.getByRole('combobox', { name: 'Service' });
    await eventually(async () => expect(await service.inputValue()).toBe('next'));
    await page.getByLabel('Name', { exact: true }).fill('next');
    await page.getByRole('button', { name: 'Create route' }).click();
    await page.getByRole('heading', { name: 'next', exact: true }).waitFor();
    const toSend = page.getByRole('alert').getByRole('button', { name: 'Send a request' });
    await toSend.click();
    await page.getByRole('dialog', { name: /Send a request through next/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL((url) => url.hash === '');
    // Back skips both forms.
    await page.goBack();
    await page.waitForURL(/\/services\/svc_/);
  });

  it('show a file that gwctl applies as the form would save it', async () => {
    const { id } = await world.gateway.service({ name: 'previewed' });
    const { page } = await world.visit('/routes/new');
    await page.getByLabel('Name', { exact: true }).fill('previewed');
    await page.getByRole('combobox', { name: 'Service' }).click();
    await page.getByRole('option', { name: 'previewed' }).click();
    await unfold(page, 'Quota');
    await page.getByLabel('Requests', { exact: true }).fill('600');
    await page.getByLabel('Counted for').selectOption('Each caller');
    await unfold(page, 'Rewriting');
    await page.getByLabel('Rewrite requests and responses').check();
    await page.getByLabel('Add prefix').fill("/it's $HOME");
    await page.getByRole('button', { name: 'Preview' }).click();
    const text = (what: string) =>
      page.getByRole('region', { name: what, exact: true }).innerText();
    const yaml = await text('YAML');
    expect(yaml).not.toContain('timeout_ms');
    await page.getByRole('tab', { name: 'curl' }).click();
    const command = await text('curl command');
    expect(command).not.toContain(world.gateway.admin.token);
    await page.keyboard.press('Escape');
    await page.getByLabel('Add prefix').fill('/v3');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('tab', { name: 'YAML' }).click();
    const file = await text('YAML');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Create route' }).click();
    await page.getByRole('heading', { name: 'previewed', exact: true }).waitFor();

    // What was saved is what the file says.
    const saved = path.join(folder, 'route.yaml');
    writeFileSync(saved, file);
    expect(await gwctl('apply', '-f', saved)).toContain('nothing to change, 1 unchanged');
    const exported = await gwctl('export', '--environment', 'production');
    expect(exported).toContain(file.slice(file.indexOf('  - name: previewed')).trimEnd());
    await gwctl('routes', 'delete', 'previewed', '--yes');
    await gwctl('apply', '-f', saved);
    const route = await gwctl('routes', 'get', 'previewed', '-o', 'json');
    expect(JSON.parse(route)).toMatchObject({
      service_id: id,
      rate_limit: { limit: 600, per: 'token' },
      rewrite: { add_prefix: '/v3' },
    });

    // The command sends what was typed, and gets the answer that the form got.
    const answer = await shell(command);
    expect(JSON.parse(answer)).toMatchObject({
      error: { details: [{ path: 'rewrite.add_prefix' }] },
    });
  });

  it('show of what exists the file that gwctl exports', async () => {
    const { gateway } = world;
    const service = await gateway.admin.create('/v1/services', {
      name: 'exported',
      environment: 'production',
      upstreams: [
        { url: 'https://a.console.example', region: 'eu', weight: 2 },
        { url: 'https://b.console.example' },
      ],
      credential: { type: 'header', name: 'X-Key', value: 'sk_exported' },
      tls: { server_name: 'c.console.example' },
      health_check: { interval_ms: 9000, timeout_ms: 2000 },
      limits: { max_in_flight: 7 },
      protocol: 'auto',
    });
    const other = await gateway.service({ name: 'exported-too' });
    const routes = [
      {
        name: 'exported-much',
        versions: [
          { name: 'v1', service_id: service.id, weight: 90 },
          { name: 'v2', service_id: service.id, weight: 10 },
        ],
        mirror: { service_id: other.id, percent: 5 },
        match: [{ hosts: ['exported.console.example'], paths: [{ exact: '/a' }] }],
        rewrite: { add_prefix: '/x', request_headers: { remove: ['X-A'] } },
        cors: { origins: ['https://app.console.example'] },
        affinity: { by: 'gateway_cookie' },
        methods: ['GET'],
        retry: { on_statuses: [429] },
        locations: 'off',
        auth: { type: 'none' },
      },
      { name: 'exported-answer', environment: 'production', respond: { body: "it's: a\n- text" } },
    ];
    const created = await Promise.all(
      routes.map((route) => gateway.admin.create('/v1/routes', route)),
    );
    const exported = await gwctl('export', '--environment', 'production');
    for (const address of [
      `/services/${service.id}/edit`,
      ...created.map(({ id }) => `/routes/${id}/edit`),
    ]) {
      const { page } = await world.visit(address);
      await page.setViewportSize({ width: 1500, height: 900 });
      const yaml = page.getByRole('region', { name: 'YAML', exact: true });
      // The names of services come a moment later.
      await eventually(async () => expect(await yaml.innerText()).not.toMatch(/svc_/));
      const file = await yaml.innerText();
      const item = file.slice(file.indexOf('  - name: ')).trimEnd();
      const [, after] = exported.split(item);
      // It ends there: the next one begins, or the next kind.
      expect([item, after]).toEqual([item, expect.stringMatching(/^\n(?: {2}- |\w|$)/)]);
      expect(item).not.toContain('sk_exported');
    }
  });

  it('bring the versions of a route back if another target was chosen for a moment', async () => {
    const { id } = await world.gateway.service({ name: 'targeted' });
    const route = await world.gateway.admin.create('/v1/routes', {
      name: 'targeted',
      versions: [
        { name: 'v1', service_id: id, weight: 90 },
        { name: 'v2', service_id: id, weight: 10 },
      ],
    });
    const { page } = await world.visit(`/routes/${route.id}/edit`);
    const target = (name: string) => page.getByRole('radio', { name, exact: true });
    const weight = page.getByRole('group', { name: 'Version 1' }).getByLabel('Weight');
    await weight.fill('80');
    await page.getByText('1 change', { exact: true }).waitFor();
    await target('One service').click();
    const service = page.getByRole('combobox', { name: 'Service' });
    await eventually(async () => expect(await service.inputValue()).toBe('targeted'));
    await target('A redirect').click();
    await page.getByText('2 changes', { exact: true }).waitFor();
    await target('Versions, by weight').click();
    expect(await weight.inputValue()).toBe('80');
    await weight.fill('90');
    await page.getByText('No changes', { exact: true }).waitFor();
  });

  it('show the command of a change, which is refused after another one', async () => {
    const route = await world.gateway.route({ name: 'commanded' });
    const { page } = await world.visit(`/routes/${route.id}/edit#timeout_ms`);
    await isFocused(page.getByLabel('Deadline', { exact: true }));
    await page.getByLabel('Deadline', { exact: true }).fill('1234');
    await page.setViewportSize({ width: 1500, height: 900 });
    const preview = page.getByRole('complementary', { name: 'Preview' });
    await preview.getByText('timeout_ms: 1234').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await preview.getByRole('tab', { name: 'curl' }).click();
    const command = await preview.getByRole('region', { name: 'curl command' }).innerText();
    expect(JSON.parse(await shell(command))).toMatchObject({ data: { timeout_ms: 1234 } });
    expect(JSON.parse(await shell(command))).toMatchObject({
      error: { code: 'precondition_failed' },
    });
  });
});
