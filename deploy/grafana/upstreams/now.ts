import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { figure } from '../parts/panel.ts';
import { Queries, share } from '../parts/query.ts';
import { ATTEMPTS, q } from './queries.ts';

/** A status of the upstream below 500, or empty: the caller left. */
const FAILED = ['result!~"[1-4]..|"'];

export const now: Row = {
  title: 'Now',
  panels: [
    figure({
      title: 'Unhealthy upstreams',
      description:
        'Upstreams that a data plane does not use. Above zero: its service has less capacity, or none.',
      unit: units.Short,
      queries: [
        q.gauge('max', 'gateway_upstreams', {
          by: ['health'],
          where: ['health=~"unhealthy|ejected|half_open"'],
        }),
      ],
      width: 12,
    }),
    figure({
      title: 'Failed attempts',
      description:
        'The part of the attempts that ended with an error or a 5xx. Attempts are more than requests if requests are retried.',
      unit: units.PercentUnit,
      queries: [share(q.perSecond(ATTEMPTS, { where: FAILED }), q.perSecond(ATTEMPTS), 'failed')],
    }),
    figure({
      title: 'In slow start',
      description:
        'Upstreams that returned or were added, and whose share still rises. For long: upstreams come and go.',
      unit: units.Short,
      queries: [q.gauge('max', 'gateway_upstreams_in_slow_start')],
    }),
    figure({
      title: 'Without usable credential',
      description:
        'Data planes that cannot decrypt the credential of a service. Above zero: its routes answer 503.',
      unit: units.Short,
      queries: [
        new Queries([]).gauge('max', 'gateway_control_plane_data_planes_with_unusable_credentials'),
      ],
      alerts: ['GatewayCredentialsCannotBeDecrypted'],
    }),
  ],
};
