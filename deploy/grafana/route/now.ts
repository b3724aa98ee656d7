import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { figure } from '../parts/panel.ts';
import { failedPart, refusedPart, REQUESTS } from '../parts/requests.ts';
import { q } from './queries.ts';

const [, p95] = q.percentiles('gateway_request_duration_seconds');

export const now: Row = {
  title: 'Now',
  panels: [
    figure({
      title: 'Requests',
      description:
        'Requests of this route. Zero: callers use another name, environment or gateway.',
      unit: units.RequestsPerSecond,
      queries: [q.perSecond(REQUESTS)],
      width: 6,
    }),
    figure({
      title: 'Failed',
      description:
        'The part of the requests that failed at an upstream. High: look at the service of the route.',
      unit: units.PercentUnit,
      queries: [failedPart(q)],
      width: 6,
    }),
    figure({
      title: 'Refused',
      description:
        'The part of the requests that the gateway refused. High: the error codes below say why.',
      unit: units.PercentUnit,
      queries: [refusedPart(q)],
      width: 6,
    }),
    figure({
      title: 'Duration, 95th percentile',
      description:
        '95 of 100 requests end within this time. Near timeout_ms of the route, requests begin to fail.',
      unit: units.Seconds,
      queries: p95 === undefined ? [] : [p95],
      width: 6,
    }),
  ],
};
