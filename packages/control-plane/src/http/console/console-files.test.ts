import { rename, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { makeConsoleFolder } from '../../../test/console.ts';

describe('the files of the console', () => {
  let api: TestApi;
  let built: Awaited<ReturnType<typeof makeConsoleFolder>>;
  beforeAll(async () => {
    built = await makeConsoleFolder();
    api = await startTestApi({ consoleFolder: built.folder });
  });
  afterAll(async () => {
    await api.close();
    await built.remove();
  });

  const get = (path: string, encoding = 'identity') =>
    fetch(api.url + path, { headers: { 'accept-encoding': encoding } });

  it('have one page for every path, which is never taken from a cache unasked', async () => {
    for (const path of ['/console', '/console/', '/console/services', '/console/a/b.c?d=e']) {
      const response = await get(path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    }
  });

  it('may load only files of this server, and run no inline script', async () => {
    const response = await get('/console');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("connect-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  it('allow styles with a nonce that is new in each response', async () => {
    const seen = new Set<string>();
    for (let asked = 0; asked < 3; asked += 1) {
      const response = await get('/console');
      const [, nonce = ''] = /nonce="([\w-]{22})"/.exec(await response.text()) ?? [];
      expect(response.headers.get('content-security-policy')).toContain(
        `style-src 'self' 'nonce-${nonce}';`,
      );
      seen.add(nonce);
    }
    expect(seen.size).toBe(3);
  });

  it('with their hash in the name are kept by caches for a year', async () => {
    const response = await get('/console/assets/a-1.js');
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public,max-age=31536000,immutable');
    expect(response.headers.get('content-type')).toMatch(/^text\/javascript/);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await response.text()).toBe('plain');
  });

  it('are sent as they were compressed when they were built', async () => {
    for (const [accepted, encoding] of [
      ['gzip', 'gzip'],
      ['gzip, br', 'br'],
    ] as const) {
      const headers = { 'accept-encoding': accepted };
      const response = await fetch(`${api.url}/console/assets/a-1.js`, { method: 'HEAD', headers });
      expect(response.headers.get('content-encoding')).toBe(encoding);
      expect(response.headers.get('vary')).toBe('Accept-Encoding');
    }
  });

  it.each(['b.js', '..%2findex.html', '..%2f..%2fconsole%2findex.html', 'a-1.js%00.css'])(
    'do not include %s',
    async (name) => {
      const answer = await api.call('GET', `/console/assets/${name}`, { token: null });
      expect([answer.status, answer.json.error?.['code']]).toEqual([404, 'not_found']);
    },
  );

  it('are those of the newest build, without a restart', async () => {
    const other = await makeConsoleFolder();
    const running = await startTestApi({ consoleFolder: other.folder });
    const status = async (name: string) =>
      (await fetch(`${running.url}/console/assets/${name}`)).status;
    try {
      expect([await status('a-1.js'), await status('a-2.js')]).toEqual([200, 404]);
      const next = await makeConsoleFolder();
      await rename(`${next.folder}/console/assets/a-1.js`, `${next.folder}/console/assets/a-2.js`);
      await rm(`${next.folder}/console/assets/a-1.js.br`);
      await rm(`${next.folder}/console/assets/a-1.js.gz`);
      await writeFile(`${next.folder}/console/index.html`, 'the next page');
      await rm(other.folder, { recursive: true });
      expect(await status('a-1.js')).toBe(404);
      await rename(next.folder, other.folder);
      expect([await status('a-1.js'), await status('a-2.js')]).toEqual([404, 200]);
      expect(await (await fetch(`${running.url}/console`)).text()).toBe('the next page');
    } finally {
      await running.close();
      await other.remove();
    }
  });

  it('answer other methods with 405', async () => {
    const response = await fetch(`${api.url}/console/services`, { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('are 404 with the reason if the console is not built', async () => {
    const without = await startTestApi();
    try {
      for (const path of ['/console', '/console/assets/a-1.js']) {
        const answer = await without.call('GET', path, { token: null });
        expect([path, answer.status]).toEqual([path, 404]);
      }
      const answer = await without.call('GET', '/console', { token: null });
      expect(answer.json.error?.['message']).toContain('npm run build');
    } finally {
      await without.close();
    }
  });
});
