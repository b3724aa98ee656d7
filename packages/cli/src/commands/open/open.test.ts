import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runInProcess } from '../../../test/run-in-process.ts';
import type { Terminal } from '../../terminal/terminal.ts';

describe('gwctl open', () => {
  let api: TestApi;
  let route: string;
  let service: string;
  beforeAll(async () => {
    api = await startTestApi();
    const body = { name: 'pay', environment: 'production', url: 'http://127.0.0.1:9' };
    service = (await api.call('POST', '/v1/services', { body })).json.data?.id ?? '';
    const { json } = await api.call('POST', '/v1/routes', {
      body: { name: 'charges', service_id: service },
    });
    route = json.data?.id ?? '';
  });
  afterAll(() => api.close());

  const open = (line: string, terminal: Partial<Terminal> = {}) =>
    runInProcess(`open ${line}`.trim().split(' '), {
      env: { GATEWAY_URL: api.url, GATEWAY_TOKEN: api.adminToken },
      ...terminal,
    });
  const url = async (line: string) => (await open(line)).stdout.replace(`${api.url}/console/`, '');

  it('prints the URL of pages, resources and requests', async () => {
    expect(await url('')).toBe('overview\n');
    expect(await url('requests')).toBe('requests\n');
    expect(await url('route charges')).toBe(`routes/${route}\n`);
    expect(await url('service pay')).toBe(`services/${service}\n`);
    expect(await url(service)).toBe(`services/${service}\n`);
    const id = 'req_01kb5zv4x8n3m6q9r2t7w0y1z4';
    expect(await url(id)).toBe(`requests/${id}\n`);
    expect(await url('version 17 --environment production')).toBe(
      'configuration/17?environment=production\n',
    );
  });

  it('opens a browser if the output is a terminal, and prints the URL if no browser can be opened', async () => {
    const opened: string[] = [];
    const browse = (target: string) => Promise.resolve(opened.push(target) > 0);
    const ran = await open('audit', { stdoutIsTerminal: true, browse });
    expect([ran.stdout, opened]).toEqual(['', [`${api.url}/console/audit`]]);
    const none = { stdoutIsTerminal: true, browse: () => Promise.resolve(false) };
    expect((await open('audit', none)).stdout).toBe(`${api.url}/console/audit\n`);
    expect((await open('audit --print', { stdoutIsTerminal: true, browse })).stdout).not.toBe('');
    expect(opened).toHaveLength(1);
  });

  it.each([
    ['rout charges', 3, 'rout is no kind with a page for each; did you mean route?'],
    ['reqests', 3, 'the console has no page reqests; did you mean requests?'],
    ['route', 3, 'name the route: gwctl open route NAME'],
    ['route chrages', 1, 'there is no route chrages; did you mean charges?'],
  ])('open %s ends with a clear error', async (line, code, message) => {
    const ran = await open(line);
    expect([ran.code, ran.stdout]).toEqual([code, '']);
    expect(ran.stderr).toContain(message);
  });
});
