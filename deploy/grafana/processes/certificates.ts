import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { q } from './queries.ts';

export const certificates: Row = {
  title: 'Certificates (processes with TLS)',
  panels: [
    graph({
      title: 'Certificate expires in',
      description: 'Less than 14 days: renew it. The process reads new files by itself.',
      unit: units.Seconds,
      queries: [
        {
          expr: `${q.gauge('min', 'gateway_tls_certificate_expiry_timestamp_seconds', { by: ['instance'] }).expr} - time()`,
          legend: '{{instance}}',
        },
      ],
      alerts: ['GatewayCertificateExpires'],
    }),
    graph({
      title: 'Certificates that were refused',
      description:
        'Above zero: the new files do not fit each other, and the old certificate is still served.',
      unit: units.Short,
      queries: [
        q.increase('gateway_tls_certificate_reloads_total', {
          by: ['instance'],
          where: ['result="refused"'],
        }),
      ],
      alerts: ['GatewayCertificateRefused'],
    }),
  ],
};
