import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../test/api.ts';

const FILES = ['/docs', '/docs/errors', '/docs/renderer.js', '/docs/start.js'];

describe('the reference of the API', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(async () => {
    await api.close();
  });

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(api.url + path, { headers });

  it('needs no token, and has the headers of every response', async () => {
    for (const path of FILES) {
      const response = await get(path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect((await get('/docs')).headers.get('content-type')).toBe('text/html; charset=utf-8');
    const script = await get('/docs/renderer.js');
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  });

  it('loads only files of this server, and has no inline script', async () => {
    const page = await (await get('/docs')).text();
    const sources = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, source]) => source);
    expect(sources).toEqual(['data:,', '/docs/renderer.js', '/docs/start.js']);
    expect(page).not.toMatch(/<script>|<style>|https?:/);
    expect(await (await get('/docs/start.js')).text()).not.toMatch(/https?:/);
  });

  it('may load nothing from elsewhere, and run no inline script', async () => {
    for (const path of FILES) {
      const policy = (await get(path)).headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("connect-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
    }
  });

  it('sends the renderer compressed to clients that accept it', async () => {
    const plain = await get('/docs/renderer.js', { 'accept-encoding': 'identity' });
    expect(plain.headers.get('content-encoding')).toBeNull();
    const compressed = await get('/docs/renderer.js', { 'accept-encoding': 'gzip' });
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(compressed.headers.get('vary')).toBe('Accept-Encoding');
    // fetch has decompressed it.
    const [one, other] = await Promise.all([plain.text(), compressed.text()]);
    expect(one.length).toBeGreaterThan(1_000_000);
    expect(other === one).toBe(true);
  });

  it('answers other methods with 405', async () => {
    const response = await fetch(`${api.url}/docs`, { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});
