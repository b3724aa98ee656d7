import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { figure } from '../parts/panel.ts';
import { partOfWhole } from '../parts/query.ts';
import { REQUESTS } from '../parts/requests.ts';
import { byVersion, failedPart, q, timeToFirstByte } from './queries.ts';

const whole = q.perSecond(REQUESTS, { where: ['version!=""'] });

export const now: Row = {
  title: 'Now, by version',
  panels: [
    figure({
      title: 'Share of the requests',
      description:
        'What part of the requests each version gets. It follows the weights; with few callers it differs, because each keeps its version.',
      unit: units.PercentUnit,
      queries: [partOfWhole(q.perSecond(REQUESTS, byVersion()), whole, [])],
      width: 6,
    }),
    figure({
      title: 'Failed',
      description:
        'The part of the requests of each version that failed at its upstream. A canary above the others: give it the weight 0.',
      unit: units.PercentUnit,
      queries: [failedPart],
      width: 6,
    }),
    figure({
      title: 'Time to first byte, 95th percentile',
      description:
        '95 of 100 responses of a version begin within this time. A canary above the others is slower.',
      unit: units.Seconds,
      queries: timeToFirstByte(95),
      width: 6,
    }),
    figure({
      title: 'Requests in this period',
      description:
        'What the other figures are made of. Below some hundreds for a version its percentile means little: choose a longer period, or wait.',
      unit: units.Short,
      queries: [q.total(REQUESTS, byVersion())],
      width: 6,
    }),
  ],
};
