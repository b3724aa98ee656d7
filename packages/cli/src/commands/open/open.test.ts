import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { storableRecord } from '@gateway/control-plane/requests/ingest/storable-record';
import { insertRecords } from '@gateway/control-plane/requests/store/records';
import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import { requestRecord } from '@gateway/shared/test/request-record';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runInProcess } from '../../../test/run-in-process.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const REQUEST = 'req_01kb5zv4x8n3m6q9r2t7w0y1z4';

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
    expect(await url(REQUEST)).toBe(`requests/${REQUEST}\n`);
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

describe('gwctl open, with the settings for links', () => {
  let api: TestApi;
  let request: string;
  beforeAll(async () => {
    api = await startTestApi({
      links: {
        CONSOLE_URL: 'https://console.example.com/console',
        GRAFANA_URL: 'https://grafana.example.com',
        TRACE_URL_TEMPLATE: 'https://traces.example.com/{trace_id}',
      },
    });
    const body = { name: 'pay', environment: 'production', url: 'http://127.0.0.1:9' };
    const service_id = (await api.call('POST', '/v1/services', { body })).json.data?.id;
    await api.call('POST', '/v1/routes', { body: { name: 'charges', service_id } });
    const record = requestRecord(api.clock.nowMs() - 60_000, { trace_id: 'a'.repeat(32) });
    request = record.id;
    await insertRecords(api.db, [storableRecord(record)]);
  });
  afterAll(() => api.close());

  const open = (line: string) =>
    runInProcess(['open', ...line.split(' ')], {
      env: { GATEWAY_URL: api.url, GATEWAY_TOKEN: api.adminToken },
    });

  it('leads to the console where the gateway says that it is', async () => {
    expect((await open('audit')).stdout).toBe('https://console.example.com/console/audit\n');
  });

  it('leads to the trace of a request, and to dashboards about what is named', async () => {
    const trace = await open(`trace ${request}`);
    expect(trace.stdout).toBe(`https://traces.example.com/${'a'.repeat(32)}\n`);
    const dashboard = 'https://grafana.example.com/d/gateway';
    const route = await open('dashboard route charges');
    expect(route.stdout).toMatch(
      new RegExp(
        `^${dashboard}-route\\?var-environment=production&var-route=charges&from=\\d+&to=`,
      ),
    );
    expect((await open('dashboard service pay')).stdout).toContain('?var-service=pay&from=');
    expect((await open('dashboard')).stdout).toContain('-traffic?var-environment=%24__all&');
    const staging = await open('dashboard traffic --environment staging');
    expect(staging.stdout).toContain('?var-environment=staging&');
  });

  it.each([
    ['trace', 3, 'name the request: gwctl open trace req_'],
    [`trace ${REQUEST}`, 1, '(404 request_not_found)'],
    ['dashboard rout charges', 3, 'there is no dashboard rout; did you mean route?'],
    ['dashboard route', 3, 'name the route: gwctl open dashboard route NAME'],
    ['dashboard route chrages', 1, 'there is no route chrages; did you mean charges?'],
    ['dashboard traffic charges', 3, 'leave charges out'],
    ['route charges more', 3, 'more is one too many'],
  ])('open %s ends with a clear error', async (line, code, message) => {
    const ran = await open(line);
    expect([ran.code, ran.stdout]).toEqual([code, '']);
    expect(ran.stderr).toContain(message);
  });

  it('names the setting that is missing', async () => {
    const ran = await open(`logs ${request}`);
    expect([ran.code, ran.stderr]).toEqual([
      1,
      'gwctl: the gateway has no such link: LOGS_URL_TEMPLATE is not set\n',
    ]);
  });
});

it.each(['file:///usr/share/applications', 'ssh://-oProxyCommand=x', '--help'])(
  'gwctl open starts nothing for the address %s of a gateway',
  async (address) => {
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      const dashboards = { traffic: address };
      response.end(JSON.stringify({ data: { console: address, dashboards }, request_id: 'req_1' }));
    }).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const ran = await runInProcess(['open', 'dashboard'], {
        env: { GATEWAY_URL: `http://127.0.0.1:${port}`, GATEWAY_TOKEN: 'gwt_1' },
        stdoutIsTerminal: true,
        browse: () => Promise.reject(new Error('was opened')),
      });
      expect([ran.code, ran.stdout]).toEqual([1, '']);
      expect(ran.stderr).toBe(
        `gwctl: the gateway has a link that is no http or https address: ${address}\n`,
      );
    } finally {
      server.close();
    }
  },
);
