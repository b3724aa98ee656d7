import { eventually } from '@gateway/shared/test/eventually';
import { expect, it } from '@jest/globals';
import { startPrometheus } from '../harness/prometheus-server.ts';
import { startGateway } from '../harness/gateway.ts';

const TRACE = 'ab'.repeat(16);

interface Exemplars {
  readonly data: readonly {
    readonly seriesLabels: Readonly<Record<string, string>>;
    readonly exemplars: readonly { readonly labels: Readonly<Record<string, string>> }[];
  }[];
}

it('Prometheus finds the trace of a sampled request at the histogram of its route', async () => {
  const gateway = await startGateway({
    env: { OTEL_TRACES_SAMPLER: 'parentbased_always_off' },
  });
  const address = new URL(gateway.dataPlanes[0]?.adminUrl ?? '');
  const prometheus = await startPrometheus(
    { 'gateway-data-plane': [address.host] },
    { moreArgs: ['--enable-feature=exemplar-storage'] },
  );
  try {
    await gateway.route({ name: 'orders' });
    await gateway.settled();
    await gateway.admin.proxy('orders');
    await gateway.admin.proxy('orders', {
      headers: { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
    });
    const now = Date.now() / 1000;
    const query = new URLSearchParams({
      query: 'gateway_request_duration_seconds_bucket',
      start: String(now - 600),
      end: String(now + 600),
    });
    await eventually(async () => {
      const response = await fetch(`${prometheus.url}/api/v1/query_exemplars?${query.toString()}`);
      const { data } = (await response.json()) as Exemplars;
      const found = data.map(({ seriesLabels, exemplars }) => [
        seriesLabels['route'],
        exemplars.map(({ labels }) => labels['trace_id']),
      ]);
      expect(found).toEqual([['orders', [TRACE]]]);
    });
    // A scrape in the classic format is as without traces.
    const classic = await (await fetch(`${address.origin}/metrics`)).text();
    expect(classic).not.toContain(TRACE);
    expect(classic).not.toContain('# EOF');
  } finally {
    await prometheus.close();
    await gateway.close();
  }
}, 120_000);
