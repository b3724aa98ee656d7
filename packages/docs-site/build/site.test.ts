import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ERROR_CODES } from '@gateway/shared/errors/error-table';
import { buildDocs } from '@gateway/tools/build/build-pages';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readDocuments } from './documents.ts';
import { readOpenApi } from './reference/openapi.ts';
import type { SearchEntry } from './search/search-entries.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const dist = fileURLToPath(new URL('../dist', import.meta.url));
const BUILD_MS = 120_000;
/** Paths of the control plane that are no page of the site. */
const ELSEWHERE = new Set(['/console', '/v1/openapi.json']);

describe('the site of the documentation', () => {
  const pages = new Map<string, string>();
  beforeAll(async () => {
    await buildDocs({
      log(line) {
        throw new Error(line);
      },
    });
    for (const file of globSync('**/*.html', { cwd: dist })) {
      pages.set(`/${file.replace(/\.html$/, '')}`, readFileSync(path.join(dist, file), 'utf8'));
    }
  }, BUILD_MS);

  const anchorsOf = (url: string) =>
    new Set([...(pages.get(url) ?? '').matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));

  /** What is wrong with an address that a page or the search leads to. */
  function faultOf(address: string, from: string): string | undefined {
    if (address.startsWith('data:') || /^https?:/.test(address)) return undefined;
    const [target = '', anchor] = address.split('#');
    const url = target === '' ? from : target;
    if (ELSEWHERE.has(url)) return undefined;
    if (!pages.has(url) && !existsSync(path.join(dist, url))) return `${from}: no ${url}`;
    if (anchor === undefined || anchorsOf(url).has(anchor)) return undefined;
    return `${from}: ${url} has no #${anchor}`;
  }

  it('has a page for each document', () => {
    const urls = [...readDocuments(root).values()].map(({ url }) => url);
    expect(urls.length).toBeGreaterThan(100);
    expect(urls.filter((url) => !pages.has(url))).toEqual([]);
  });

  it('leads to places that exist, from every page', () => {
    const faults = [...pages].flatMap(([from, html]) =>
      [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].flatMap(
        ([, address = '']) => faultOf(address.replaceAll('&amp;', '&'), from) ?? [],
      ),
    );
    expect(faults).toEqual([]);
  });

  it('leads to every page of the guide by the navigation', () => {
    const named = new Set(
      [...pages.values()].flatMap((html) => {
        const [, navigation = ''] = /<nav id="navigation"(.*?)<\/nav>/s.exec(html) ?? [];
        return [...navigation.matchAll(/href="([^"#]+)/g)].map(([, url = '']) => url);
      }),
    );
    // The index is led to by the mark at the top, and a page that is not found by nothing.
    const others = ['/docs/guide', '/docs/not-found'];
    const missing = [...pages.keys()].filter((url) => !named.has(url) && !others.includes(url));
    expect(missing).toEqual([]);
  });

  it('has no script, style or handler in a page, and loads nothing from another host', () => {
    for (const [url, html] of pages) {
      const inline = html.match(/<style|<script(?![^>]* src=)|\sstyle="|\son[a-z]+="/g);
      expect([url, inline]).toEqual([url, null]);
      const loaded = [...html.matchAll(/<(?:script|img|link|source)[^>]*(?:src|href)="([^"]+)"/g)];
      const foreign = loaded.filter(([, address = '']) => !/^(\/docs\/|data:)/.test(address));
      expect([url, foreign]).toEqual([url, []]);
    }
    for (const file of globSync('docs/assets/*.{js,css}', { cwd: dist })) {
      expect(readFileSync(path.join(dist, file), 'utf8')).not.toMatch(
        /https?:\/\/(?!www\.w3\.org)/,
      );
    }
  });

  it('describes each code of an error at the place that the type of problem details names', () => {
    const anchors = anchorsOf('/docs/errors');
    expect(ERROR_CODES.filter((code) => !anchors.has(code))).toEqual([]);
  });

  it('describes each operation of the API, with a form that calls it', () => {
    const { paths } = readOpenApi(root);
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    const described = [...pages.values()].flatMap((html) =>
      [...html.matchAll(/<section class="operation" id="(\w+)">.*?<\/section>/gs)].map(
        ([section, id]) => [id, section.includes('<form data-method=')],
      ),
    );
    expect(described.toSorted()).toEqual(
      operations.map(({ operationId }) => [operationId, true]).toSorted(),
    );
  });

  it('has the navigation and the search on the page of addresses without one', () => {
    const html = pages.get('/docs/not-found') ?? '';
    expect(html).toContain('<h1>Page not found</h1>');
    expect(html).toContain('data-search');
    expect(html).toContain('<a href="/docs/guide/use/gwctl"');
  });

  it('leads to places that exist, from the search', () => {
    const [file = ''] = globSync('docs/assets/search-*.json', { cwd: dist });
    const entries = JSON.parse(readFileSync(path.join(dist, file), 'utf8')) as SearchEntry[];
    expect(entries.length).toBeGreaterThan(500);
    expect(entries.flatMap(({ url }) => faultOf(url, 'search') ?? [])).toEqual([]);
  });
});
