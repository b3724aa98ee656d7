import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../test/api.ts';

const PAGES = ['/docs', '/docs/errors', '/docs/guide', '/docs/guide/use/a', '/docs/api/routes'];
const ASSET = '/docs/assets/site-1.js';

/** A folder as the build of the documentation makes it. */
async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-docs-'));
  for (const page of PAGES) await write(folder, `${page}.html`, `<h1>${page}</h1>`);
  await write(folder, '/docs/not-found.html', '<h1>not found</h1>');
  await write(folder, ASSET, 'plain');
  await write(folder, `${ASSET}.gz`, 'gzip');
  await write(folder, `${ASSET}.br`, 'brotli');
  return folder;
}

async function write(folder: string, file: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
  await writeFile(path.join(folder, file), text);
}

describe('the documentation on a control plane', () => {
  let api: TestApi;
  let folder: string;
  beforeAll(async () => {
    folder = await makeFolder();
    api = await startTestApi({ docsFolder: folder });
  });
  afterAll(async () => {
    await api.close();
    await rm(folder, { recursive: true });
  });

  const get = (target: string, encoding = 'identity') =>
    fetch(api.url + target, { headers: { 'accept-encoding': encoding }, redirect: 'manual' });

  it.each(PAGES)(
    'has the page %s, without a token and with the headers of every response',
    async (page) => {
      const response = await get(page);
      expect([response.status, await response.text()]).toEqual([200, `<h1>${page}</h1>`]);
      expect(response.headers.get('content-type')).toBe('text/html;charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    },
  );

  it.each(PAGES)('may load nothing from elsewhere on %s, and run nothing inline', async (page) => {
    const policy = (await get(page)).headers.get('content-security-policy') ?? '';
    for (const kind of ['script', 'style', 'connect', 'font']) {
      expect(policy).toContain(`${kind}-src 'self';`);
    }
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  it.each(PAGES)('has the same policy for the copy of %s that a browser kept', async (page) => {
    const first = await get(page);
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
    const again = await fetch(api.url + page, { headers });
    expect(again.status).toBe(304);
    for (const name of ['content-security-policy', 'cache-control']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
  });

  it('has files that browsers keep for a year, compressed as they accept it', async () => {
    for (const encoding of ['gzip', 'br']) {
      const headers = { 'accept-encoding': encoding };
      const response = await fetch(api.url + ASSET, { method: 'HEAD', headers });
      expect(response.headers.get('content-encoding')).toBe(encoding);
      expect(response.headers.get('vary')).toBe('Accept-Encoding');
      expect(response.headers.get('cache-control')).toBe('public,max-age=31536000,immutable');
    }
  });

  it.each(['/docs/', '/docs/guide/'])('begins at the guide for %s', async (target) => {
    const response = await get(target);
    expect([response.status, response.headers.get('location')]).toEqual([302, '/docs/guide']);
  });

  it.each([
    '/docs/guide/nowhere',
    '/docs/api/nowhere',
    '/docs/assets/other.js',
    '/docs/assets/..%2f..%2fdocs.html',
    '/docs/guide/..%2f..%2fdocs/errors.html%00',
  ])('has no %s', async (target) => {
    const answer = await api.call('GET', target, { token: null });
    expect([answer.status, answer.json.error?.['code']]).toEqual([404, 'not_found']);
    expect(answer.headers.get('content-security-policy')).not.toContain('script-src');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  it.each(['/docs/guide/nowhere', '/docs/api/nowhere', '/docs/nowhere/at/all', '/docs/not-found'])(
    'has a page for a browser that asks for %s, and JSON for everybody else',
    async (target) => {
      const response = await fetch(api.url + target, { headers: { accept: BROWSER } });
      expect([response.status, await response.text()]).toEqual([404, '<h1>not found</h1>']);
      const { headers } = response;
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(headers.get('content-security-policy')).toContain("script-src 'self';");
      expect(headers.get('x-gateway-error')).toBe('not_found');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('vary')).toBe('Accept');
      for (const accept of ['*/*', 'application/json', 'application/problem+json']) {
        const other = await fetch(api.url + target, { headers: { accept } });
        expect([other.status, other.headers.get('content-type')]).toEqual([
          404,
          expect.stringMatching(/^application\/(problem\+)?json/),
        ]);
      }
    },
  );

  it('answers other methods with 405', async () => {
    const response = await fetch(`${api.url}/docs`, { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('is 404 with the reason if it is not built', async () => {
    const without = await startTestApi();
    try {
      const headers = { accept: BROWSER };
      const page = await fetch(`${without.url}/docs/guide/nowhere`, { headers });
      expect([page.status, page.headers.get('content-type')]).toEqual([
        404,
        'application/json; charset=utf-8',
      ]);
      for (const page of PAGES) {
        const answer = await without.call('GET', page, { token: null });
        expect([page, answer.status]).toEqual([page, 404]);
        expect(answer.json.error?.['message']).toContain('npm run build');
      }
    } finally {
      await without.close();
    }
  });
});
