import { afterEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { observeLinks } from '../links-metric.ts';

const NO_DASHBOARDS = {
  traffic: null,
  route: null,
  canary: null,
  service: null,
  configuration: null,
  processes: null,
};

describe('GET /v1/links', () => {
  let api: TestApi;
  afterEach(() => api.close());

  it('shows the templates that the settings name, to every token', async () => {
    api = await startTestApi({
      links: {
        CONSOLE_URL: 'https://gateway.example.com/console',
        GRAFANA_URL: 'https://grafana.example.com/sub',
        TRACE_URL_TEMPLATE: 'https://traces.example.com/{trace_id}',
        LOGS_URL_TEMPLATE: 'https://logs.example.com/?q={request_id}',
      },
    });
    const limited = { name: 'limited', environments: ['production'], scopes: ['proxy'] };
    const { json: created } = await api.call('POST', '/v1/tokens', { body: limited });
    const { status, json } = await api.call('GET', '/v1/links', {
      token: created.data?.secret ?? '',
    });
    expect(status).toBe(200);
    expect(json.data).toMatchObject({
      console: 'https://gateway.example.com/console',
      trace: 'https://traces.example.com/{trace_id}',
      logs: 'https://logs.example.com/?q={request_id}',
      dashboards: {
        route:
          'https://grafana.example.com/sub/d/gateway-route?var-environment={environment}&var-route={route}&from={from_ms}&to={to_ms}',
        processes: 'https://grafana.example.com/sub/d/gateway-processes?from={from_ms}&to={to_ms}',
      },
    });
  });

  it('shows null for tools that no setting names', async () => {
    api = await startTestApi();
    const { json } = await api.call('GET', '/v1/links');
    expect(json.data).toEqual({
      console: null,
      trace: null,
      logs: null,
      dashboards: NO_DASHBOARDS,
    });
  });

  it('needs a token', async () => {
    api = await startTestApi();
    expect((await api.call('GET', '/v1/links', { token: null })).status).toBe(401);
  });
});

describe('the metric of the links', () => {
  it('has the addresses of the console and of Grafana, and no series if neither is known', async () => {
    const known = new Registry();
    observeLinks(known, { GRAFANA_URL: 'https://grafana.example.com' });
    expect(await known.metrics()).toContain(
      'gateway_control_plane_links_info{console_url="",grafana_url="https://grafana.example.com"} 1',
    );
    const unknown = new Registry();
    observeLinks(unknown, {});
    expect(await unknown.metrics()).not.toMatch(/^gateway_control_plane_links_info/m);
  });
});
