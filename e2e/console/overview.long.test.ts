import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startSwitchedUpstream, type SwitchedUpstream } from '../harness/switched-upstream.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';

/** Has some traffic of the route charges, all of which went well. */
const ENVIRONMENT = 'overview';
const CHART = 'Requests over time, by class of status';

describe('the overview of the console', () => {
  let world: ConsoleWorld;
  let upstream: SwitchedUpstream;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
    upstream = await startSwitchedUpstream('payments');
    await makeEnvironment(ENVIRONMENT);
    await callCharges(ENVIRONMENT);
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await upstream.stop();
    await world.close();
  });

  /** Makes an environment with the service payments and the route charges, without traffic. Returns the id of the route. */
  async function makeEnvironment(name: string, url = world.gateway.upstream.url): Promise<string> {
    await world.gateway.admin.create('/v1/environments', { name });
    const service = await world.gateway.service({ name: 'payments', environment: name, url });
    const route = await world.gateway.route({ name: 'charges', service_id: service.id });
    await world.gateway.settled(name);
    return route.id;
  }

  async function callCharges(environment: string, more: Readonly<Record<string, string>> = {}) {
    const headers = { 'x-gateway-environment': environment, ...more };
    for (let count = 0; count < 5; count += 1) {
      await world.gateway.admin.proxy('charges', { headers });
    }
  }

  async function open(path: string): Promise<Page> {
    const { page } = await world.visit(path);
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
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
    const environment = 'overview-live';
    await makeEnvironment(environment);
    const page = await open(`/overview?environment=${environment}`);
    await page.getByRole('img', { name: CHART }).waitFor();
    await callCharges(environment);
    await page
      .getByRole('link', { name: /^Requests per second (?:0\.\d*[1-9]|[1-9])/ })
      .waitFor({ timeout: 6000 });
    await region(page, /^Longest p95/)
      .getByRole('link', { name: 'charges' })
      .waitFor();
    await region(page, 'Latest changes').getByText('route charges created').waitFor();
    await region(page, 'Data planes')
      .getByRole('link', { name: /^\d+ live, (?:all )?on v\d+$/ })
      .waitFor();
  });

  it('counts longer periods, which the URL holds', async () => {
    const page = await open(`/overview?environment=${ENVIRONMENT}`);
    for (const label of ['1 h', '24 h', '7 d', '30 d']) {
      await page.getByText(label, { exact: true }).click();
      await region(page, `Longest p95, last ${label}`).getByText('charges').waitFor();
      await page.getByRole('link', { name: /^Error rate 0 %/ }).waitFor();
      const search = Object.fromEntries(new URL(page.url()).searchParams);
      expect(search).toEqual({ environment: ENVIRONMENT, period: label.replace(' ', '') });
    }
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('leads from every number, and from a press or a drag on a chart, to the requests behind it', async () => {
    const search = (page: Page) => {
      const { pathname, searchParams } = new URL(page.url());
      expect(pathname).toBe('/console/requests');
      return Object.fromEntries(searchParams);
    };
    const page = await open(`/overview?environment=${ENVIRONMENT}&period=1h`);
    const links: readonly (readonly [RegExp, object])[] = [
      [/^Requests [\d,]+/, {}],
      [/^Error rate/, { failed: 'true' }],
      [/^4xx \D*\d/, { status: '4xx' }],
      [/^p95 \d/, { slower: expect.stringMatching(/^\d+$/) }],
      [/^2xx: \d+ requests?$/, { status: '2xx', until: expect.any(String) }],
    ];
    for (const [name, filters] of links) {
      await page.getByRole('link', { name }).click();
      await page.getByRole('heading', { name: 'Requests' }).waitFor();
      expect(search(page)).toEqual({
        environment: ENVIRONMENT,
        since: expect.any(String),
        ...filters,
      });
      await page.goBack();
      await page.getByRole('img', { name: CHART }).waitFor();
    }
    await region(page, /^Longest p95/)
      .getByRole('link', { name: 'charges' })
      .click();
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    expect(search(page)).toMatchObject({ route: 'charges', since: expect.any(String) });
    await page.goBack();

    const periodOf = async (fromPart: number, toPart: number): Promise<number> => {
      const chart = page.getByRole('img', { name: CHART });
      await chart.waitFor();
      const box = await chart.boundingBox();
      if (box === null) throw new Error('no chart');
      const y = box.y + box.height / 2;
      await page.mouse.move(box.x + box.width * fromPart, y);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * toPart, y, { steps: 4 });
      await page.mouse.up();
      await page.getByRole('heading', { name: 'Requests' }).waitFor();
      const { since = '', until = '' } = search(page);
      await page.goBack();
      return (Date.parse(until) - Date.parse(since)) / 60_000;
    };
    expect(await periodOf(0.5, 0.5)).toBe(1);
    const dragged = await periodOf(0.25, 0.75);
    expect(dragged).toBeGreaterThanOrEqual(29);
    expect(dragged).toBeLessThanOrEqual(33);
  });

  it('marks versions of the configuration, which lead to what changed', async () => {
    const page = await open(`/overview?environment=${ENVIRONMENT}`);
    await page
      .getByRole('link', { name: /^Version/ })
      .first()
      .click();
    await page.getByRole('heading', { name: /^Version \d+/ }).waitFor();
  });

  it('says in an empty environment what to do next', async () => {
    const name = 'overview-empty';
    await world.gateway.admin.create('/v1/environments', { name });
    const page = await open(`/overview?environment=${name}`);
    const steps = region(page, 'First steps');
    await steps.getByRole('link', { name: 'Create the first service' }).waitFor();
    expect(await page.getByRole('img', { name: CHART }).count()).toBe(0);
    await world.gateway.service({ name: 'first', environment: name });
    await page.reload();
    await steps.getByRole('link', { name: 'Create the first route' }).click();
    await page.getByRole('heading', { name: 'New route' }).waitFor();
  });

  it('is live and up to date while the clock of the browser is ten minutes ahead', async () => {
    const { page, signIn, messages } = await world.open('/sign-in');
    await page.clock.install({ time: Date.now() + 10 * 60_000 });
    await signIn();
    await page.getByLabel('Environment').selectOption(ENVIRONMENT);
    await region(page, 'Latest changes').getByText('by admin').first().waitFor();
    await page.getByRole('img', { name: CHART }).waitFor();
    await region(page, /^Longest p95/)
      .getByText('charges')
      .waitFor();
    expect(messages.filter((one) => /status of 400/.test(one))).toEqual([]);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('counts gRPC calls by status, here and at the route, and leads to their requests', async () => {
    const group = { name: 'gRPC calls by status' };
    const environment = 'overview-grpc';
    const routeId = await makeEnvironment(environment);
    await callCharges(environment);
    const page = await open(`/overview?environment=${environment}`);
    await page.getByRole('link', { name: /^Error rate 0 %/ }).waitFor();
    expect(await page.getByRole('group', group).count()).toBe(0);
    // The upstream sends no trailers, so clients report UNKNOWN.
    await callCharges(environment, { 'content-type': 'application/grpc' });
    await page.getByRole('group', group).getByRole('link', { name: '2 UNKNOWN: 5' }).waitFor();
    await page.goto(`${world.url}/routes/${routeId}`);
    await page.getByRole('group', group).getByRole('link', { name: '2 UNKNOWN: 5' }).click();
    const requests = page.getByRole('region', { name: 'Requests' });
    await requests.getByText('2 UNKNOWN').first().waitFor();
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toEqual({
      environment,
      grpc: '"2"',
      route: 'charges',
    });
  });

  it('shows within 10 s that the upstream of a service has stopped', async () => {
    const environment = 'overview-stopped';
    await makeEnvironment(environment, upstream.url);
    const page = await open(`/overview?environment=${environment}`);
    const services = region(page, 'Services that are not healthy');
    await region(page, 'Data planes').waitFor();
    expect(await services.count()).toBe(0);
    await upstream.stop();
    await services.getByText('payments').waitFor({ timeout: 10_000 });
    await services.getByText('unhealthy', { exact: true }).waitFor();
    await services.getByText(/^just now: \d+ of \d+ checks failed/).waitFor();
  });
});
