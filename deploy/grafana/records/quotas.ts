import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { figure, graph } from '../parts/panel.ts';
import { share } from '../parts/query.ts';
import { q } from './queries.ts';

export const quotas: Row = {
  title: 'NATS and quotas',
  panels: [
    figure({
      title: 'NATS grants leases',
      description:
        '0: at least one data plane gets no leases and grants its share of every quota. NATS is down or unreachable.',
      unit: units.Short,
      queries: [q.gauge('min', 'gateway_quota_leasing')],
      alerts: ['GatewayQuotasWithoutLeases'],
      width: 12,
    }),
    figure({
      title: 'NATS delivers changes',
      description: '0: at least one data plane is not connected to NATS.',
      unit: units.Short,
      queries: [q.gauge('min', 'gateway_config_connected')],
      width: 12,
    }),
    graph({
      title: 'Requests that wait for a lease',
      description: 'As a part of the requests with a quota. Above 1 %: NATS is slow or far away.',
      unit: units.PercentUnit,
      queries: [
        share(
          q.perSecond('gateway_quota_waits_total', { where: ['for="lease"'] }),
          q.perSecond('gateway_quota_takes_total'),
          'waiting',
        ),
      ],
      alerts: ['GatewayRequestsWaitForLeases'],
    }),
    graph({
      title: 'Requests with a quota',
      description:
        'Counted requests, requests leased from NATS, and requests decided without NATS. Those without NATS above zero: NATS gives no leases.',
      unit: units.RequestsPerSecond,
      queries: [
        q.perSecond('gateway_quota_takes_total', { legend: 'counted' }),
        q.perSecond('gateway_quota_leased_total', { legend: 'leased' }),
        q.perSecond('gateway_quota_share_takes_total', { legend: 'decided without NATS' }),
      ],
    }),
    graph({
      title: 'Lease writes',
      description:
        'Failed or unanswered: NATS is slow or down. Conflicts are retried; many mean that many data planes share a small quota.',
      unit: units.OpsPerSecond,
      queries: [
        q.perSecond('gateway_quota_refills_total', { by: ['result'] }),
        q.perSecond('gateway_quota_unanswered_total', { legend: 'unanswered writes' }),
        q.perSecond('gateway_quota_conflicts_total', { legend: 'conflicts' }),
        q.perSecond('gateway_quota_recalls_total', {
          by: ['result'],
          legend: 'recalls {{result}}',
        }),
      ],
    }),
    graph({
      title: 'Clock of NATS ahead of the data plane',
      description:
        'Its size. More than 2 s: the time synchronization of a machine is broken, and tokens expire at the wrong time.',
      unit: units.Seconds,
      queries: [
        {
          expr: `max by (instance) (abs(${q.series('gateway_nats_clock_offset_seconds')}))`,
          legend: '{{instance}}',
        },
      ],
      alerts: ['GatewayClockWrong'],
    }),
  ],
};
