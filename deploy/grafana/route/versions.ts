import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { share } from '../parts/query.ts';
import { FAILED, REQUESTS } from '../parts/requests.ts';
import { q } from './queries.ts';

/** Requests without a version were refused before one was chosen, or the route has none. */
const by = ['service', 'version'];
const [, p95] = q.percentiles('gateway_time_to_first_byte_seconds', { by });

export const versions: Row = {
  title: 'Versions',
  panels: [
    graph({
      title: 'Requests by version',
      description:
        'How many requests each version gets, with its service. A share that differs from its weight: few callers, because each keeps its version.',
      unit: units.RequestsPerSecond,
      queries: [q.perSecond(REQUESTS, { by })],
      width: 8,
      stacked: true,
    }),
    graph({
      title: 'Failed, by version',
      description:
        'The part of the requests of each version that failed at its upstream. A canary above the others: give it the weight 0.',
      unit: units.PercentUnit,
      queries: [
        share(
          q.perSecond(REQUESTS, { by, where: [FAILED] }),
          q.perSecond(REQUESTS, { by }),
          '{{service}} {{version}}',
        ),
      ],
      width: 8,
    }),
    graph({
      title: 'Time to first byte, 95th percentile, by version',
      description:
        '95 of 100 responses of a version begin within this time. A canary above the others is slower.',
      unit: units.Seconds,
      queries: p95 === undefined ? [] : [p95],
      width: 8,
    }),
  ],
};
