import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { ATTEMPTS, q } from './queries.ts';

export const health: Row = {
  title: 'Health',
  panels: [
    graph({
      title: 'Healthy upstreams of each service',
      description:
        'As the data plane sees it that sees the fewest, for 1000 services at most. Zero: requests of that service fail or are about to.',
      unit: units.Short,
      queries: [
        q.gauge('min', 'gateway_service_healthy_upstreams', { by: ['environment', 'name'] }),
      ],
      alerts: ['GatewayServiceWithoutHealthyUpstream'],
    }),
    graph({
      title: 'Upstreams by health',
      description:
        'Over all services, added up over data planes and workers. unknown: not checked yet; ejected: too many errors.',
      unit: units.Short,
      queries: [q.gauge('sum', 'gateway_upstreams', { by: ['health'] })],
      stacked: true,
    }),
    graph({
      title: 'Changes of health',
      description:
        'Ejections, failed checks and returns. Many to and fro: an upstream is at its limit, or its check is too strict.',
      unit: units.Short,
      queries: [q.increase('gateway_upstream_transitions_total', { by: ['to', 'reason'] })],
    }),
    graph({
      title: 'Health checks',
      description: 'Active checks by result. Few: checks are late, or no service has them.',
      unit: units.OpsPerSecond,
      queries: [q.perSecond('gateway_upstream_checks_total', { by: ['result'] })],
      stacked: true,
    }),
    graph({
      title: 'Health checks that wait',
      description:
        'Checks that are due and wait for others. Above zero for minutes: raise MAX_PARALLEL_HEALTH_CHECKS.',
      unit: units.Short,
      queries: [q.gauge('max', 'gateway_upstream_checks_waiting', { by: ['instance'] })],
      alerts: ['GatewayHealthChecksLate'],
    }),
    graph({
      title: 'Attempts by result',
      description:
        'A status is the answer of the upstream. A word is an error: no connection, a timeout, a broken response.',
      unit: units.RequestsPerSecond,
      queries: [q.perSecond(ATTEMPTS, { by: ['result'] })],
      stacked: true,
    }),
  ],
};
