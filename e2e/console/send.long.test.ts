import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import type { Page } from 'playwright-core';
import type { Resource } from '../harness/client.ts';
import { accessibilityFaults, faultsInAllLooks } from './harness/axe.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';
import { VISIBLE_TO_SCRIPTS } from './harness/visible-to-scripts.ts';

describe('a request that the console sends', () => {
  let world: ConsoleWorld;
  let route: Resource;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
    route = await world.gateway.route({ name: 'charges' });
    await world.gateway.settled();
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await world.close();
  });

  const send = (page: Page) => page.getByRole('button', { name: 'Send', exact: true }).click();
  const response = (page: Page) => page.getByRole('region', { name: 'Response' });
  const seen = (part: string) =>
    world.gateway.upstream.seen.filter(({ url }) => url.includes(part));

  /** Opens the panel on the page of the route. */
  async function panel(token?: string, { id } = route): Promise<Page> {
    const { page } = await world.visit(`/routes/${id}`, token);
    await page.getByRole('button', { name: 'Send a request' }).click();
    await page.getByLabel('Path and query').waitFor();
    return page;
  }

  it('goes through a data plane, and its response, record and explanation appear beside it', async () => {
    const page = await panel();
    await page.getByLabel('Path and query').fill('/17//x?full=1');
    await page.getByLabel('Headers', { exact: true }).fill('X-Trial: a: b\nAccept: text/html');
    await send(page);
    await response(page).getByText('200 OK').waitFor();
    const [arrived] = seen('/17//x?full=1');
    expect(arrived).toMatchObject({ method: 'GET', headers: { 'x-trial': 'a: b' } });
    expect(arrived?.headers).not.toHaveProperty('cookie');
    expect(arrived?.headers).not.toHaveProperty('authorization');
    const body = page.getByRole('group', { name: 'Body of the response' });
    expect(await body.textContent()).toContain('"upstream": "');
    await page.getByText('Raw').click();
    expect(await body.textContent()).toContain('"upstream":"');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('tab', { name: /^Headers/ }).click();
    await response(page).getByText('X-Upstream', { exact: false }).first().waitFor();
    await page.getByRole('tab', { name: 'Explain' }).last().click();
    await page
      .getByRole('region', { name: 'Explanation' })
      .getByText('Forwarded to an upstream')
      .waitFor();
    expect(await faultsInAllLooks(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 720 });
    const record = page.getByRole('group', { name: 'Record' });
    await record.getByText(/^1 attempt, /).waitFor();
    await record.getByRole('link').click();
    await page.waitForURL(/\/requests\/req_/);
    await page
      .getByText(/console of admin/)
      .first()
      .waitFor();
  });

  it('has a token that no script of the page can read, and that is in the audit trail', async () => {
    const { page, requested } = await world.visit(`/routes/${route.id}`);
    await page.getByRole('button', { name: 'Send a request' }).click();
    const answers: string[] = [];
    page.on('response', (one) => {
      if (one.url().endsWith('/console/send')) void one.text().then((text) => answers.push(text));
    });
    await send(page);
    await response(page).getByText('200 OK').waitFor();
    await eventually(() => expect(answers.join('')).toContain('"status":200'));
    expect(`${answers.join()} ${requested.join()}`).not.toContain('gwt_');
    expect(await page.evaluate<string>(VISIBLE_TO_SCRIPTS)).not.toContain('gwt_');
    const { data } = (
      await world.gateway.admin.get('/v1/audit-events?action=token.created')
    ).page();
    expect(JSON.stringify(data)).toContain('console of admin');
  });

  it('asks before a method that may change something', async () => {
    const page = await panel();
    await page.getByLabel('Method', { exact: true }).selectOption('POST');
    await page.getByLabel('Path and query').fill('/asked');
    await page.getByLabel('Body', { exact: true }).fill('{"amount":1}');
    await page.getByRole('button', { name: 'Format JSON' }).click();
    await send(page);
    const question = page.getByRole('dialog', { name: 'Send POST to production?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    expect(seen('/asked')).toEqual([]);
    await page.getByLabel('Body', { exact: true }).press('Control+Enter');
    await question.getByRole('button', { name: 'Send POST' }).click();
    await response(page).getByText('200 OK').waitFor();
    expect(seen('/asked')).toMatchObject([
      {
        method: 'POST',
        body: '{\n  "amount": 1\n}',
        headers: { 'content-type': 'application/json' },
      },
    ]);
  });

  it('is sent again from the page of a recorded request, with its method and path', async () => {
    const { headers } = await world.gateway.admin.proxy('charges/again/1?secret=1', {
      method: 'PUT',
    });
    const id = headers.get('x-request-id') ?? '';
    await eventually(async () => {
      expect((await world.gateway.admin.get(`/v1/requests/${id}`)).status).toBe(200);
    });
    const { page } = await world.visit(`/requests/${id}`);
    await page.getByRole('button', { name: 'Send again' }).click();
    expect(await page.getByLabel('Path and query').inputValue()).toBe('/again/1');
    expect(await page.getByLabel('Method', { exact: true }).inputValue()).toBe('PUT');
    await send(page);
    await page.getByRole('button', { name: 'Send PUT' }).click();
    await response(page).getByText('200 OK').waitFor();
    expect(seen('/again/1')).toHaveLength(2);
  });

  it('may have a pasted token, which is gone with the panel', async () => {
    const page = await panel();
    const pasted = createTokenSecret();
    await page.getByText('Pasted', { exact: true }).click();
    await page.getByLabel('Pasted token').fill(`Bearer ${pasted}`);
    await send(page);
    await response(page).getByText('401 Unauthorized').waitFor();
    await page
      .getByRole('group', { name: 'Body of the response' })
      .getByText('authentication_failed')
      .waitFor();
    await page.getByRole('button', { name: 'Close' }).first().click();
    await page.getByLabel('Path and query').waitFor({ state: 'detached' });
    expect(await page.evaluate<string>(VISIBLE_TO_SCRIPTS)).not.toContain(pasted);
  });

  it('shows what is wrong with it at the field, and nothing is sent', async () => {
    const page = await panel();
    await page.getByLabel('Path and query').fill('/../../console');
    await page.getByLabel('Headers', { exact: true }).fill('X-A: 1\nX-Forwarded-For: 10.0.0.1');
    await send(page);
    await page.getByRole('alert').waitFor();
    await page.getByText('must have no segment . or ..').first().waitFor();
    await page.getByText('header 2 must not be given').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(seen('console')).toEqual([]);
  });

  it('can be given up while the upstream is slow', async () => {
    const page = await panel();
    await page.getByLabel('Path and query').fill('/slow/20000');
    await send(page);
    await eventually(() => expect(seen('/slow/20000').length).toBe(1));
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('shows the part of a response that breaks off, and markup as text', async () => {
    const html = '<img src=x onerror="document.title=\'owned\'">';
    const raw = await startRawUpstream((socket) => {
      socket.on('data', () => {
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n${html}`,
          () => setTimeout(() => socket.resetAndDestroy(), 50),
        );
      });
    });
    try {
      const service = await world.gateway.service({ url: raw.url });
      const broken = await world.gateway.route({ service_id: service.id });
      await world.gateway.settled();
      const page = await panel(undefined, broken);
      await send(page);
      await page.getByText('The connection was lost within the body.').waitFor();
      const body = page.getByRole('group', { name: 'Body of the response' });
      expect(await body.textContent()).toBe(html);
      expect(await page.title()).not.toBe('owned');
    } finally {
      await raw.close();
    }
  });

  it('is offered only to sessions that may call the route', async () => {
    const reader = await world.gateway.admin.create('/v1/tokens', {
      name: 'reader',
      environments: ['production'],
      scopes: ['routes:read', 'requests:read'],
    });
    const { page } = await world.visit(`/routes/${route.id}`, String(reader['secret']));
    const button = page.getByRole('button', { name: 'Send a request' });
    await button.focus();
    await page.getByText('proxy').first().waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
  });
});
