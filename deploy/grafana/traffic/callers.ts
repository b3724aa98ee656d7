import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { q } from './queries.ts';

export const callers: Row = {
  title: 'Callers',
  panels: [
    graph({
      title: 'Requests that hold a slot',
      description:
        'Requests, WebSockets and callers without a token, each bounded by a setting. Near the setting, further ones are shed.',
      unit: units.Short,
      queries: [q.gauge('sum', 'gateway_slots_in_use', { by: ['slots'] })],
    }),
    graph({
      title: 'Malformed requests and unanswered connections',
      description:
        'Requests that were not HTTP, connections that closed without a response, and connections that the gateway ended. Many: a broken client or an attack. closed_before_request is usual for load balancers that check the port.',
      unit: units.Short,
      queries: [
        q.increase('gateway_malformed_requests_total', {
          by: ['reason'],
          legend: 'malformed: {{reason}}',
        }),
        q.increase('gateway_connections_unanswered_total', {
          by: ['reason'],
          legend: 'unanswered: {{reason}}',
        }),
        q.increase('gateway_connections_ended_total', {
          by: ['reason'],
          legend: 'ended: {{reason}}',
        }),
      ],
    }),
    graph({
      title: 'JWTs of callers',
      description:
        'Verifications by result. no_keys: the issuer cannot be reached, and its routes answer 503. not_checked: an address has failed too often. Many others than verified and known: callers send wrong tokens.',
      unit: units.OpsPerSecond,
      queries: [q.perSecond('gateway_jwt_verifications_total', { by: ['result'] })],
    }),
    graph({
      title: 'Token issuers without keys',
      description:
        'Issuers whose key set was never fetched. Above zero: routes with their JWTs answer 503.',
      unit: units.Short,
      queries: [
        q.gauge('max', 'gateway_key_sets', { by: ['instance'], where: ['state="missing"'] }),
      ],
      alerts: ['GatewayTokenIssuerWithoutKeys'],
    }),
  ],
};
