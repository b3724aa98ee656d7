import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { q } from './queries.ts';

export const dns: Row = {
  title: 'DNS',
  panels: [
    graph({
      title: 'DNS lookups',
      description:
        'Lookups by result. Failed: the DNS servers cannot be reached, or the name is wrong.',
      unit: units.OpsPerSecond,
      queries: [q.perSecond('gateway_dns_lookups_total', { by: ['result'] })],
    }),
    graph({
      title: 'Names that do not resolve',
      description:
        'Stale: their last good addresses are used for DNS_STALE_MS, and the services fail after that. Unanswered: there are none, and no name server answers.',
      unit: units.Short,
      queries: [
        q.gauge('max', 'gateway_dns_names', {
          by: ['instance', 'state'],
          where: ['state=~"stale|unanswered"'],
        }),
      ],
      alerts: ['GatewayDNSAnswersMissing'],
    }),
  ],
};
