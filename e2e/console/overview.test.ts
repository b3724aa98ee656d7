import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startSwitchedUpstream, type SwitchedUpstream } from '../harness/switched-upstream.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';

/** Without the traffic of other suites. */
const ENVIRONMENT = 'overview';

describe('the overview of the console', () => {
  let world: ConsoleWorld;
  let upstream: SwitchedUpstream;
  let routeId: string;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
    upstream = await startSwitchedUpstream('payments');
    await world.gateway.admin.create('/v1/environments', { name: ENVIRONMENT });
    const service = await world.gateway.service({
      name: 'payments',
      environment: ENVIRONMENT,
      url: upstream.url,
    });
    routeId = (await world.gateway.route({ name: 'charges', service_id: service.id })).id;
    await world.gateway.settled(ENVIRONMENT);
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await upstream.stop();
    await world.close();
  });

  async function open(path: string): Promise<Page> {
    const { page } = await world.visit(path);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    return page;
  }

  const region = (page: Page, name: string | RegExp) => page.getByRole('region', { name });

  it('is the first page, and counts requests while they are made', async () => {
    await (
      await open('/')
    )
      .getByLabel('Pages', { exact: true })
      .getByRole('link', { name: 'Overview' })
      .waitFor();
    const page = await open(`/overview?environment=${ENVIRONMENT}`);
    await page.getByRole('img', { name: 'Requests and errors per second over time' }).waitFor();
    const headers = { 'x-gateway-environment': ENVIRONMENT };
    for (let count = 0; count < 5; count += 1) {
      await world.gateway.admin.proxy('charges', { headers });
    }
    const rate = page.locator('dl', { hasText: 'Requests per second' }).locator('dd');
    await rate.filter({ hasText: /[1-9]/ }).waitFor({ timeout: 6000 });
    await region(page, /^Longest p95/)
      .getByRole('link', { name: 'charges' })
      .waitFor();
    await region(page, 'Latest changes').getByText('route charges created').waitFor();
    await region(page, 'Data planes')
      .getByText(/^version \d+$/)
      .first()
      .waitFor();
  });

  it('counts longer periods, which the URL holds', async () => {
    const page = await open(`/overview?environment=${ENVIRONMENT}`);
    for (const label of ['1 h', '24 h', '7 d', '30 d']) {
      await page.getByText(label, { exact: true }).click();
      await region(page, `Longest p95, last ${label}`).getByText('charges').waitFor();
      const rate = page.locator('dl', { hasText: 'Error rate' }).locator('dd');
      await rate.filter({ hasText: '0 %' }).waitFor();
      const search = Object.fromEntries(new URL(page.url()).searchParams);
      expect(search).toEqual({ environment: ENVIRONMENT, period: label.replace(' ', '') });
    }
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('is live and up to date while the clock of the browser is ten minutes ahead', async () => {
    const { page, signIn, messages } = await world.open('/sign-in');
    await page.clock.install({ time: Date.now() + 10 * 60_000 });
    await signIn();
    await page.getByLabel('Environment').selectOption(ENVIRONMENT);
    await region(page, 'Latest changes').getByText('by admin').first().waitFor();
    await page.getByRole('img', { name: 'Requests and errors per second over time' }).waitFor();
    await region(page, /^Longest p95/)
      .getByText('charges')
      .waitFor();
    expect(messages.filter((one) => /status of 400/.test(one))).toEqual([]);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('counts gRPC calls by status, here and at the route, and leads to their requests', async () => {
    const group = { name: 'gRPC calls by status' };
    const page = await open(`/overview?environment=${ENVIRONMENT}`);
    await page.locator('dl', { hasText: 'Error rate' }).getByText('0 %').waitFor();
    expect(await page.getByRole('group', group).count()).toBe(0);
    const type = { 'content-type': 'application/grpc' };
    // The upstream sends no trailers, so clients report UNKNOWN.
    await world.gateway.admin.proxy('charges', {
      headers: { 'x-gateway-environment': ENVIRONMENT, ...type },
    });
    await page.getByRole('group', group).getByRole('link', { name: '2 UNKNOWN: 1' }).waitFor();
    await page.goto(`${world.url}/routes/${routeId}`);
    await page.getByRole('group', group).getByRole('link', { name: '2 UNKNOWN: 1' }).click();
    const requests = page.getByRole('region', { name: 'Requests' });
    await requests.getByText('gRPC 2 UNKNOWN').waitFor();
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toEqual({
      environment: ENVIRONMENT,
      grpc: '"2"',
      route: 'charges',
    });
  });

  it('shows within 10 s that the upstream of a service has stopped', async () => {
    const page = await open(`/overview?environment=${ENVIRONMENT}`);
    const services = region(page, 'Services that are not healthy');
    await services.getByText(/services? (?:is|are) healthy/).waitFor();
    await upstream.stop();
    await services.getByText('payments').waitFor({ timeout: 10_000 });
    await services.getByText('unhealthy').waitFor();
  });
});
