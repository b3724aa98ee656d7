import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { q } from './queries.ts';

export const sending: Row = {
  title: 'Request records',
  panels: [
    graph({
      title: 'Records sent and stored',
      description:
        'Sent: acknowledged by NATS. Stored: in Postgres. Stored less than sent: records wait in NATS.',
      unit: units.RecordsPerSecond,
      queries: [
        q.perSecond('gateway_records_sent_total', { legend: 'sent' }),
        q.perSecond('gateway_control_plane_ingest_records_total', { legend: 'stored' }),
      ],
    }),
    graph({
      title: 'Records lost',
      description:
        'By reason. Above zero: NATS is away for longer than memory and disk last, or the disk is full.',
      unit: units.Short,
      queries: [q.increase('gateway_records_dropped_total', { by: ['reason'] })],
      alerts: ['GatewayRecordsDropped'],
    }),
    graph({
      title: 'Records that wait in memory',
      description:
        'They rise while NATS accepts no records: NATS is down, or the stream is full because Postgres is down.',
      unit: units.Short,
      queries: [q.gauge('sum', 'gateway_records_pending', { by: ['instance'] })],
    }),
    graph({
      title: 'Records that wait on disk',
      description:
        'Used when the memory for records is full. Near MAX_RECORD_SPOOL_BYTES records will be lost.',
      unit: units.BytesIEC,
      queries: [q.gauge('sum', 'gateway_records_spooled_bytes', { by: ['instance'] })],
      alerts: ['GatewayRecordsWaitOnDisk'],
    }),
    graph({
      title: 'Time until NATS acknowledges records',
      description: 'High: NATS or its disk is slow, or NATS is far away.',
      unit: units.Seconds,
      queries: q.percentiles('gateway_record_publish_seconds'),
    }),
    graph({
      title: 'Records sent again',
      description:
        'Batches that NATS did not acknowledge, and records that it may have lost. Often: NATS restarts or is unreachable.',
      unit: units.Short,
      queries: [
        q.increase('gateway_record_publish_failures_total', { legend: 'failed batches' }),
        q.increase('gateway_records_sent_again_total', { legend: 'records sent again' }),
      ],
    }),
  ],
};
