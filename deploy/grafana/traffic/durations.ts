import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { burnByRoute } from '../parts/burn.ts';
import { LINKS_OF_ROUTE } from '../parts/console.ts';
import { graph } from '../parts/panel.ts';
import { type Query } from '../parts/query.ts';
import { FAILED, REQUESTS } from '../parts/requests.ts';
import { q } from './queries.ts';

export const durations: Row = {
  title: 'Durations and routes',
  panels: [
    graph({
      title: 'Duration of requests',
      description:
        'From the arrival of a request to the end of its response, with the wait for the upstream. High with a low time in the gateway: the upstreams are slow.',
      unit: units.Seconds,
      queries: q.percentiles('gateway_request_duration_seconds'),
    }),
    graph({
      title: 'Time in the gateway',
      description:
        'Without the wait for the upstream. High: the data planes have too little CPU time, or requests wait for NATS.',
      unit: units.Seconds,
      queries: q.percentiles('gateway_latency_seconds'),
    }),
    graph({
      title: 'Routes that burn their error budget',
      description:
        'The ten routes with the highest burn rate over one hour. 1: the budget is used up in exactly 30 days; above the line somebody is paged.',
      unit: units.Short,
      queries: [top(burnByRoute(q, 'error'))],
      dataLinks: LINKS_OF_ROUTE,
      alerts: ['GatewayErrorBudgetBurnsFast'],
    }),
    graph({
      title: 'Routes that burn their latency budget',
      description:
        'The same for responses that begin later than the objective of their route says, by default 2.5 s.',
      unit: units.Short,
      queries: [top(burnByRoute(q, 'latency'))],
      dataLinks: LINKS_OF_ROUTE,
      alerts: ['GatewayLatencyBudgetBurnsFast'],
    }),
    graph({
      title: 'Busiest routes',
      description:
        'The ten routes with the most requests. A route that grows alone has a new caller or a retry loop.',
      unit: units.RequestsPerSecond,
      queries: [top(q.perSecond(REQUESTS, { by: ['environment', 'route'] }))],
      dataLinks: LINKS_OF_ROUTE,
    }),
    graph({
      title: 'Routes with the most failures',
      description:
        'The ten routes with the most requests that failed at an upstream. One route: its service has the problem.',
      unit: units.RequestsPerSecond,
      queries: [top(q.perSecond(REQUESTS, { by: ['environment', 'route'], where: [FAILED] }))],
      dataLinks: LINKS_OF_ROUTE,
    }),
  ],
};

function top({ expr, legend }: Query): Query {
  return { expr: `topk(10, ${expr})`, legend };
}
