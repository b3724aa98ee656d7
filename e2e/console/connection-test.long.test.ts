import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { closedPort } from '@gateway/shared/test/upstream';
import { accessibilityFaults } from './harness/axe.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';

describe('the form of a service', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(() => world.close());

  it('tests the connections before anything is saved, and says what was seen of them', async () => {
    const services = async () => (await world.gateway.admin.get('/v1/services')).page().data.length;
    const before = await services();
    const { page } = await world.visit('/services/new');
    const form = page.getByRole('form', { name: 'New service' });
    const test = form.getByRole('button', { name: 'Test connection' });
    const results = form.getByRole('status', { name: 'Results of the test' });
    await test.click();
    await form.getByRole('alert').getByText('Upstream 1, URL must be an absolute URL').waitFor();
    await form.getByLabel('URL').fill(world.gateway.upstream.url);
    await test.click();
    await results.getByText('healthy', { exact: true }).first().waitFor();
    await results
      .getByText(/^Reached in .* over HTTP\/1\.1 without TLS/)
      .first()
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    // It says nothing of an address that was typed since.
    await form.getByLabel('URL').fill(`http://127.0.0.1:${await closedPort()}`);
    await results.waitFor({ state: 'detached' });
    await test.click();
    await results.getByText('It refused the connection.').first().waitFor();
    expect(await services()).toEqual(before);

    const { id } = await world.gateway.service({ name: 'tested', health_path: '/' });
    await page.goto(`${world.url}/services/${id}/edit`);
    await page.getByRole('button', { name: 'Test connection' }).click();
    await page
      .getByText(/GET \/ answered 200\.$/)
      .first()
      .waitFor();
    await world.gateway.admin.delete(`/v1/services/${id}`);
  });
});
