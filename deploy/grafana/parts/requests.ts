import * as units from '@grafana/grafana-foundation-sdk/units';
import type { SeriesLink } from './link.ts';
import { graph } from './panel.ts';
import { share, type Queries } from './query.ts';

/** Of every request, by route. */
export const REQUESTS = 'gateway_requests_total';
/** Failed at an upstream, as the console counts errors of upstreams. */
export const FAILED = 'outcome=~"upstream_error|upstream_unavailable|timeout"';
/** Refused by the gateway. */
const REFUSED = 'outcome="rejected"';

/** The part of the requests that failed at an upstream. */
export function failedPart(q: Queries) {
  return share(q.perSecond(REQUESTS, { where: [FAILED] }), q.perSecond(REQUESTS), 'failed');
}

/** The part of the requests that the gateway refused. */
export function refusedPart(q: Queries) {
  return share(q.perSecond(REQUESTS, { where: [REFUSED] }), q.perSecond(REQUESTS), 'refused');
}

/** What became of the requests, in four graphs with these descriptions. */
export function resultGraphs(
  q: Queries,
  descriptions: {
    readonly outcome: string;
    readonly status: string;
    readonly grpc: string;
    readonly code: string;
  },
  /** From a series with this label to its requests; the name of the filter in the console. */
  linksOf: (label: string, filter: string) => readonly SeriesLink[] = () => [],
) {
  const unit = units.RequestsPerSecond;
  return [
    graph({
      title: 'Requests by outcome',
      description: descriptions.outcome,
      unit,
      queries: [q.perSecond(REQUESTS, { by: ['outcome'] })],
      dataLinks: linksOf('outcome', 'outcome'),
      stacked: true,
    }),
    graph({
      title: 'Responses by status',
      description: descriptions.status,
      unit,
      queries: [q.perSecond(REQUESTS, { by: ['status'] })],
      dataLinks: linksOf('status', 'status'),
      stacked: true,
    }),
    graph({
      title: 'gRPC calls by status',
      description: descriptions.grpc,
      unit,
      queries: [q.perSecond('gateway_grpc_responses_total', { by: ['grpc_status'] })],
      dataLinks: linksOf('grpc_status', 'grpc'),
      stacked: true,
    }),
    graph({
      title: 'Error codes',
      description: descriptions.code,
      unit,
      queries: [q.perSecond(REQUESTS, { by: ['code'], where: ['code!=""'] })],
      dataLinks: linksOf('code', 'error'),
    }),
  ];
}
