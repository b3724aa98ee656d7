import { describe, expect, it } from '@jest/globals';
import type { Links } from '../api/client.ts';
import { linkTargets } from './link-targets.ts';

const links: Links = {
  console: null,
  trace: 'https://traces.example.com/{trace_id}',
  logs: null,
  dashboards: {
    traffic: null,
    route:
      'https://grafana.example.com/d/gateway-route?var-route={route}&from={from_ms}&to={to_ms}',
    canary: null,
    service: null,
    configuration: null,
    processes: null,
  },
};

describe('the links of a page to other tools', () => {
  it('are those for which the setting and the values are known', () => {
    const values = { trace_id: 'abc', route: 'charges', from_ms: 1, to_ms: 2 };
    expect(linkTargets(links, ['trace', 'logs', 'route', 'canary'], values)).toEqual([
      { label: 'Trace', href: 'https://traces.example.com/abc' },
      {
        label: 'Route in Grafana',
        href: 'https://grafana.example.com/d/gateway-route?var-route=charges&from=1&to=2',
      },
    ]);
  });

  it('leave out what a request lacks, such as the route of one that was refused early', () => {
    const values = { trace_id: 'abc', route: null, from_ms: 1, to_ms: 2 };
    expect(linkTargets(links, ['trace', 'route'], values).map(({ label }) => label)).toEqual([
      'Trace',
    ]);
  });

  it('are none while the settings are not read yet', () => {
    expect(linkTargets(undefined, ['trace'], { trace_id: 'abc' })).toEqual([]);
  });
});
