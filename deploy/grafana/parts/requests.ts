import * as units from '@grafana/grafana-foundation-sdk/units';
import type { SeriesLink } from './link.ts';
import { graph } from './panel.ts';
import { share, type Queries } from './query.ts';

/** Of every request, by route. */
export const REQUESTS = 'gateway_requests_total';
/** Failed at an upstream, as the console counts errors of upstreams. */
export const FAILED = 'outcome=~"upstream_error|upstream_unavailable|timeout"';
/** Green is good, yellow is what callers cause or a rule refuses, red is a failure. */
const OUTCOME_COLORS = [
  ['/^success$/', 'green'],
  ['/^rejected$/', 'yellow'],
  ['/^client_aborted$/', 'blue'],
  ['/^timeout$/', 'orange'],
  ['/^upstream_error$/', 'red'],
  ['/^upstream_unavailable$/', 'dark-red'],
] as const;
/** By the class of the status. */
const STATUS_COLORS = [
  ['/^1/', 'light-blue'],
  ['/^2/', 'green'],
  ['/^3/', 'blue'],
  ['/^4/', 'yellow'],
  ['/^429$/', 'orange'],
  ['/^5/', 'red'],
] as const;
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
      colors: OUTCOME_COLORS,
      dataLinks: linksOf('outcome', 'outcome'),
      stacked: true,
    }),
    graph({
      title: 'Responses by status',
      description: descriptions.status,
      unit,
      queries: [q.perSecond(REQUESTS, { by: ['status'] })],
      colors: STATUS_COLORS,
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
