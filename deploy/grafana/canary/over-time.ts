import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { partOfWhole } from '../parts/query.ts';
import { REQUESTS } from '../parts/requests.ts';
import { BY_VERSION, byVersion, failedPart, q, timeToFirstByte } from './queries.ts';

const whole = q.perSecond(REQUESTS, { where: ['version!=""'] });

export const overTime: Row = {
  title: 'Over time, by version',
  panels: [
    graph({
      title: 'Share of the requests',
      description:
        'What part of the requests each version gets. A vertical line is a new version of the configuration, such as another weight.',
      unit: units.PercentUnit,
      queries: [partOfWhole(q.perSecond(REQUESTS, byVersion()), whole, [])],
      stacked: true,
      max: 1,
    }),
    graph({
      title: 'Failed',
      description:
        'The part of the requests of each version that failed at its upstream. Only the canary rises: its release. All rise: something that they share.',
      unit: units.PercentUnit,
      queries: [failedPart],
    }),
    graph({
      title: 'Time to first byte, 95th percentile',
      description:
        '95 of 100 responses of a version begin within this time. A canary that is slow only after its start warms up.',
      unit: units.Seconds,
      queries: timeToFirstByte(95),
    }),
    graph({
      title: 'Time to first byte, median',
      description:
        'Half of the responses of a version begin within this time. Equal while the 95th percentile is not: only some requests are slower.',
      unit: units.Seconds,
      queries: timeToFirstByte(50),
    }),
    graph({
      title: 'Responses by version and status',
      description:
        'Statuses that callers got from each version. A status that only the canary gives, also below 500, is its doing.',
      unit: units.RequestsPerSecond,
      queries: [
        q.perSecond(REQUESTS, {
          by: ['version', 'status'],
          where: ['version!=""'],
          legend: '{{version}} {{status}}',
        }),
      ],
    }),
    graph({
      title: 'Error codes by version',
      description:
        'Errors that the gateway answered for requests of each version. upstream_timeout or upstream_unavailable of one version: look at its service.',
      unit: units.RequestsPerSecond,
      queries: [
        q.perSecond(REQUESTS, {
          by: [...BY_VERSION, 'code'],
          where: ['version!=""', 'code!=""'],
          legend: '{{version}} {{code}}',
        }),
      ],
    }),
  ],
};
