import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../test/api.ts';

/** What Chromium and Firefox send for an address that was typed. */
const BROWSERS = [
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
];
const PROGRAMS = ['*/*', 'application/json', 'application/json, text/html;q=0.5', undefined];

describe('the address of the gateway itself', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(async () => {
    await api.close();
  });

  const get = (accept: string | undefined, method = 'GET') =>
    fetch(`${api.url}/`, {
      method,
      redirect: 'manual',
      headers: accept === undefined ? {} : { accept },
    });

  it.each(BROWSERS)('leads a browser to the console (%s)', async (accept) => {
    for (const method of ['GET', 'HEAD']) {
      const response = await get(accept, method);
      expect([response.status, response.headers.get('location')]).toEqual([302, '/console']);
      expect(response.headers.get('vary')).toBe('Accept');
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    }
  });

  it.each(PROGRAMS)('is an unknown path to a program (%s)', async (accept) => {
    const response = await get(accept);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'not_found' } });
  });

  it('is an unknown path for other methods', async () => {
    expect((await get(BROWSERS[0], 'POST')).status).toBe(404);
  });
});
