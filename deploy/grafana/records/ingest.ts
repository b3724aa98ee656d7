import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { q } from './queries.ts';

export const ingest: Row = {
  title: 'Records in Postgres',
  panels: [
    graph({
      title: 'Time of an insert',
      description: 'With its commit. High: Postgres or its disk is slow.',
      unit: units.Seconds,
      queries: q.percentiles('gateway_control_plane_ingest_duration_seconds'),
    }),
    graph({
      title: 'Records of an insert',
      description: 'Mean. It rises with the load; near 4000 the ingest is at its limit.',
      unit: units.Short,
      queries: [q.mean('gateway_control_plane_ingest_batch_records', { legend: 'mean' })],
    }),
    graph({
      title: 'Inserts that failed, and records that were skipped',
      description:
        'failed: Postgres is down, and each is retried. malformed: the record is lost, and the log has it. Duplicates are harmless.',
      unit: units.Short,
      queries: [
        q.increase('gateway_control_plane_ingest_failures_total', { legend: 'failed' }),
        q.increase('gateway_control_plane_ingest_poison_total', { legend: 'malformed' }),
        q.increase('gateway_control_plane_ingest_redelivered_total', { legend: 'delivered again' }),
        q.increase('gateway_control_plane_ingest_duplicates_total', { legend: 'duplicates' }),
        q.increase('gateway_control_plane_token_uses_dropped_total', {
          legend: 'token uses dropped',
        }),
      ],
    }),
    graph({
      title: 'Missing partitions',
      description:
        'Rows of a missing partition go to DEFAULT; nothing is lost. Above zero for long: the control plane cannot create it.',
      unit: units.Short,
      queries: [
        q.gauge('max', 'gateway_control_plane_missing_partitions', { by: ['table'] }),
        q.increase('gateway_control_plane_late_partitions_total', {
          by: ['table'],
          legend: 'late: {{table}}',
        }),
      ],
      alerts: ['GatewayPartitionMissing'],
    }),
    graph({
      title: 'Connections to Postgres',
      description:
        'waiting above zero: calls wait for a connection. Postgres is slow, or DATABASE_MAX_CONNECTIONS is too low.',
      unit: units.Short,
      queries: [q.gauge('sum', 'gateway_control_plane_postgres_connections', { by: ['state'] })],
      stacked: true,
    }),
    graph({
      title: 'Idempotency keys of management calls dropped',
      description:
        'Keys dropped within 24 h because there were too many. Above zero: a repeated call may run twice.',
      unit: units.Short,
      queries: [
        q.increase('gateway_control_plane_idempotency_keys_dropped_total', { by: ['instance'] }),
      ],
    }),
  ],
};
