import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { accessibilityFaults } from './harness/axe.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';

const GRAFANA = 'https://grafana.example.com/d';
const DASHBOARDS = {
  traffic: `${GRAFANA}/traffic?env={environment}&from={from_ms}&to={to_ms}`,
  route: `${GRAFANA}/route?env={environment}&route={route}`,
  canary: `${GRAFANA}/canary?route={route}`,
  service: `${GRAFANA}/service?service={service}`,
  configuration: `${GRAFANA}/configuration?from={from_ms}`,
  processes: `${GRAFANA}/processes?from={from_ms}`,
};
const NONE = Object.fromEntries(Object.keys(DASHBOARDS).map((name) => [name, null]));

describe('links of the console to other tools', () => {
  let world: ConsoleWorld;
  let routeId: string;
  let serviceId: string;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
    const { gateway } = world;
    const service = await gateway.service({ name: 'linked-service', url: gateway.upstream.url });
    const versions = [
      { name: 'v1', service_id: service.id, weight: 9 },
      { name: 'v2', service_id: service.id, weight: 1 },
    ];
    serviceId = service.id;
    const route = { name: 'linked', environment: 'production', versions };
    routeId = (await gateway.admin.create('/v1/routes', route)).id;
    await gateway.settled();
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(() => world.close());

  /** A page of the console whose control plane has these dashboards. */
  async function open(dashboards: object) {
    const { page, signIn } = await world.open('/sign-in');
    const data = { console: null, trace: null, logs: null, dashboards };
    await page.route('**/v1/links', (route) =>
      route.fulfill({ json: { data, request_id: 'req_1' } }),
    );
    await signIn();
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
    return page;
  }

  it('stand where the console shows the same, and lead to what the page is about', async () => {
    const page = await open(DASHBOARDS);
    const linksOf = async (path: string, name: string) => {
      await page.goto(world.url + path);
      const link = page
        .getByRole('navigation', { name: 'Other tools' })
        .getByRole('link', { name });
      return link.getAttribute('href');
    };
    const overview = await linksOf('/overview?environment=production&period=24h', 'Traffic');
    const range = new URL(overview ?? '').searchParams;
    expect(range.get('env')).toBe('production');
    const hours = (Number(range.get('to')) - Number(range.get('from'))) / 3_600_000;
    expect(hours).toBeGreaterThan(23);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await linksOf(`/routes/${routeId}`, 'Route in Grafana')).toBe(
      `${GRAFANA}/route?env=production&route=linked`,
    );
    expect(await linksOf(`/routes/${routeId}?tab=versions`, 'Versions in Grafana')).toBe(
      `${GRAFANA}/canary?route=linked`,
    );
    expect(await linksOf(`/services/${serviceId}`, 'Service in Grafana')).toBe(
      `${GRAFANA}/service?service=linked-service`,
    );
    expect(await linksOf('/data-planes', 'Processes in Grafana')).toMatch(/processes\?from=\d+$/);
    expect(await linksOf('/configuration', 'Configuration in Grafana')).toMatch(/from=\d+$/);
  });

  it('are left out if no setting names a tool', async () => {
    const page = await open(NONE);
    await page.goto(`${world.url}/services/${serviceId}`);
    await page.getByRole('heading', { name: 'linked-service' }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await page.getByRole('navigation', { name: 'Other tools' }).count()).toBe(0);
  });
});
