import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { q } from './queries.ts';

export const keys: Row = {
  title: 'Idempotency keys',
  panels: [
    graph({
      title: 'Requests with a key',
      description:
        'By result. unavailable: NATS is down or the bucket is full; outcome_unknown: an earlier run was interrupted; repeated: an earlier run ended with a repeatable status.',
      unit: units.RequestsPerSecond,
      queries: [q.perSecond('gateway_idempotency_requests_total', { by: ['result'] })],
      stacked: true,
    }),
    graph({
      title: 'Outcomes that were not stored',
      description:
        'By end of the claim. Above zero: the next use of such a key is refused with 409.',
      unit: units.Short,
      queries: [
        q.increase('gateway_idempotency_claims_ended_total', {
          by: ['end'],
          where: ['end=~"lost|uncommitted"'],
        }),
        q.increase('gateway_idempotency_claims_abandoned_total', { legend: 'abandoned' }),
      ],
      alerts: ['GatewayIdempotencyOutcomeLost', 'GatewayClaimsNotTakenBack'],
    }),
    graph({
      title: 'Room for new keys',
      description:
        '0: the bucket is full and requests with a new key get 503. Raise IDEMPOTENCY_MAX_BYTES.',
      unit: units.Short,
      queries: [q.gauge('min', 'gateway_idempotency_has_room', { by: ['instance'] })],
      alerts: ['GatewayIdempotencyKeysRefused'],
      max: 1,
    }),
    graph({
      title: 'Fill of the buckets',
      description:
        'The used part of each bucket of NATS. At 0.5 callers without credentials get no new entries, at 0.8 nobody gets new quotas, at 0.9 nobody new keys.',
      unit: units.PercentUnit,
      queries: [q.gauge('max', 'gateway_bucket_fill_ratio', { by: ['bucket'] })],
      alerts: ['GatewayBucketFilling'],
      max: 1,
    }),
    graph({
      title: 'New entries that buckets did not get',
      description:
        'By bucket and bound. Above zero: new callers or keys are refused, or new callers get a share only. route: one route has too many.',
      unit: units.Short,
      queries: [q.increase('gateway_bucket_entries_refused_total', { by: ['bucket', 'bound'] })],
      alerts: ['GatewayBucketEntriesRefused'],
    }),
    graph({
      title: 'Duplicates that were refused',
      description:
        'Too many requests wait for the first one with their key. Above zero: a caller repeats without waiting.',
      unit: units.Short,
      queries: [q.increase('gateway_idempotency_waiters_refused_total', { by: ['instance'] })],
      alerts: ['GatewayDuplicatesRefused'],
    }),
    graph({
      title: 'Keys in use',
      description:
        'Claims that are held and duplicates that wait. They rise while upstreams are slow.',
      unit: units.Short,
      queries: [
        q.gauge('sum', 'gateway_idempotency_claims_held', { legend: 'held' }),
        q.gauge('sum', 'gateway_idempotency_waiting', { legend: 'waiting' }),
      ],
    }),
  ],
};
