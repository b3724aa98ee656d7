import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { requestsWith } from '../parts/console.ts';
import { graph, heatmap } from '../parts/panel.ts';
import { resultGraphs } from '../parts/requests.ts';
import { q } from './queries.ts';

const DURATION = 'gateway_request_duration_seconds';

export const requests: Row = {
  title: 'Requests',
  panels: [
    ...resultGraphs(
      q,
      {
        outcome:
          'What became of the requests. timeout: the upstream is too slow for timeout_ms; upstream_unavailable: no healthy upstream.',
        status:
          'Statuses that callers of this route got. An empty status: the caller left before the response.',
        grpc: 'gRPC statuses with which gRPC calls ended; the status of HTTP is 200. 2, 4, 12, 13, 14 and 15: the server failed.',
        code: 'Errors that the gateway answered for this route. rate_limit_exceeded: a caller is above its quota; upstream_*: look at the upstreams.',
      },
      (label, filter) => [requestsWith(label, filter)],
    ),
    graph({
      title: 'Duration of requests',
      description:
        'From the arrival of a request to the end of its response. All percentiles high: the service is slow; only p99: some requests are.',
      unit: units.Seconds,
      queries: q.percentiles(DURATION),
    }),
    graph({
      title: 'Mean duration',
      description: 'High while the median is low: a few requests take very long.',
      unit: units.Seconds,
      queries: [q.mean(DURATION, { legend: 'mean' })],
    }),
    heatmap({
      title: 'Durations',
      description:
        'How many requests took how long. Two bands: two kinds of requests, such as hits and misses of a cache.',
      unit: units.Seconds,
      queries: [q.buckets(DURATION)],
    }),
  ],
};
