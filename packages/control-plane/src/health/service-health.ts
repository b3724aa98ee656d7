import {
  UPSTREAM_STATES,
  type Heartbeat,
  type ReportedUpstreamReason,
} from '@gateway/shared/heartbeats/heartbeat';
import { z } from 'zod';
import type { KnownDataPlane } from '../data-planes/data-plane.ts';
import { exampleId, regionField } from '@gateway/shared/definitions/fields';
import { timeField } from '../fields/response-fields.ts';
import { healthReasonText } from './health-reason.ts';
import { serviceStatusSchema, type Service, type ServiceStatus } from '../services/service.ts';

/** The largest number of data planes that are shown for one upstream; failing ones first. */
const MAX_SHOWN = 100;

const STATES = ['healthy', ...UPSTREAM_STATES] as const;

const stateSchema = z.enum(STATES).meta({
  description:
    'healthy; unhealthy: its checks fail; ejected: its requests failed; half_open: it is on trial after that; unknown: not checked yet, or not reported.',
  examples: ['healthy'],
});

const dataPlaneHealthSchema = z
  .object({
    data_plane: z.string().meta({ description: 'The id of the data plane.', examples: ['dp-1'] }),
    region: z.string().meta({ description: 'The region of the data plane.', examples: ['eu'] }),
    status: stateSchema,
    since: timeField('Since when it is so, by the clock of the data plane.')
      .nullable()
      .meta({
        description:
          'Since when it is so, by the clock of the data plane. null: healthy without a recent ejection, or not reported.',
        examples: ['2026-03-01T12:00:00.000Z'],
      }),
    reason: z
      .string()
      .nullable()
      .meta({
        description: 'Why, in words. null: healthy without a recent ejection, or not reported.',
        examples: ['5 of 5 requests failed, the last with status_503'],
      }),
    last_seen_at: timeField('When its last heartbeat arrived.'),
  })
  .meta({ description: 'An upstream as one data plane sees it.' });

const count = (description: string) => z.int().meta({ description, examples: [2] });

const regionHealthSchema = z
  .object({
    region: z.string().meta({ description: 'The region of the data planes.', examples: ['eu'] }),
    healthy: count('The data planes for which it is healthy.'),
    failing: count('The data planes for which it is unhealthy, ejected or half open.'),
    unknown: count('The data planes that have not checked it yet, or do not report it.'),
  })
  .meta({ description: 'An upstream as the data planes of one region see it.' });

const upstreamHealthSchema = z
  .object({
    id: z.string().meta({
      description: 'The id of the upstream, as in records.',
      examples: [exampleId('ups')],
    }),
    url: z.string().meta({
      description: 'The URL of the upstream.',
      examples: ['https://payments.internal:8443'],
    }),
    region: regionField
      .nullable()
      .meta({ description: 'The region of the upstream.', examples: ['eu'] }),
    status: serviceStatusSchema.meta({
      description: 'Its health for all live data planes together.',
      examples: ['healthy'],
    }),
    regions: z.array(regionHealthSchema).meta({ description: 'Counts for each region, by name.' }),
    data_planes: z.array(dataPlaneHealthSchema).meta({
      description: `Each live data plane, at most ${MAX_SHOWN}: failing ones first, then by id.`,
    }),
  })
  .meta({ description: 'The health of an upstream.' });

/** The schema of `serviceHealthView`. */
export const serviceHealthViewSchema = z
  .object({
    service_id: z
      .string()
      .meta({ description: 'The id of the service.', examples: [exampleId('svc')] }),
    status: serviceStatusSchema.meta({
      description: 'The status of the service.',
      examples: ['healthy'],
    }),
    overloaded_on: z.array(z.string()).meta({
      description: `The data planes that lately refused requests because the service was at one of its limits, at most ${MAX_SHOWN}. If there are any, a healthy service is degraded.`,
      examples: [['dp-1']],
    }),
    upstreams: z.array(upstreamHealthSchema).meta({ description: 'The health of each upstream.' }),
  })
  .meta({
    id: 'ServiceHealth',
    description: 'The health of a service, as live data planes see it.',
  });

type State = (typeof STATES)[number];

type ServiceUpstreams = Pick<Service, 'id' | 'upstreams'>;

/**
 * The states of a service's upstreams in a heartbeat, by upstream id. A heartbeat names upstreams that are not healthy,
 * up to a limit. If it names all that it counts, the others are healthy.
 */
function statesOf(heartbeat: Heartbeat, service: ServiceUpstreams): ReadonlyMap<string, State> {
  const ids = service.upstreams.map(({ id }) => id);
  const named = new Map(heartbeat.upstream_states.filter(([id]) => ids.includes(id)));
  const [, failing = 0, unchecked = 0] = heartbeat.services[service.id] ?? [];
  const isWhole =
    heartbeat.services[service.id] !== undefined && named.size === failing + unchecked;
  return new Map(ids.map((id) => [id, named.get(id) ?? (isWhole ? 'healthy' : 'unknown')]));
}

/** The health of each upstream of a service, by region and by data plane. */
export function serviceHealthView(
  service: ServiceUpstreams,
  status: ServiceStatus,
  live: readonly KnownDataPlane[],
  now: { readonly monotonicMs: number; readonly wallMs: number },
): z.output<typeof serviceHealthViewSchema> {
  const reports = live.map((known) => ({
    ...known,
    states: statesOf(known.heartbeat, service),
    causes: new Map(known.heartbeat.upstream_reasons.map((cause) => [cause.id, cause])),
  }));
  const shown = service.upstreams.map(({ id, url, region }) => {
    const seen = reports.map(({ heartbeat, heardMs, states, causes }) => ({
      data_plane: heartbeat.id,
      region: heartbeat.region,
      ...stateAndCause(states.get(id) ?? 'unknown', causes.get(id)),
      last_seen_at: new Date(now.wallMs - (now.monotonicMs - heardMs)),
    }));
    const byRegion = Map.groupBy(seen, (one) => one.region);
    return {
      id,
      url,
      region,
      status: statusOf(seen.map((one) => one.status)),
      regions: [...byRegion]
        .map(([name, some]) => ({ region: name, ...countsOf(some.map((one) => one.status)) }))
        .sort((a, b) => (a.region < b.region ? -1 : 1)),
      data_planes: seen.sort(failingFirst).slice(0, MAX_SHOWN),
    };
  });
  return serviceHealthViewSchema.parse({
    service_id: service.id,
    status,
    overloaded_on: live
      .filter(({ heartbeat }) => heartbeat.overloaded_services.includes(service.id))
      .map(({ heartbeat }) => heartbeat.id)
      .sort()
      .slice(0, MAX_SHOWN),
    upstreams: shown,
  });
}

function stateAndCause(status: State, cause: ReportedUpstreamReason | undefined) {
  return {
    status,
    since: cause === undefined ? null : new Date(cause.since_ms),
    reason: healthReasonText(status, cause),
  };
}

interface Seen {
  readonly data_plane: string;
  readonly status: State;
}

const RANK: Readonly<Record<State, number>> = {
  unhealthy: 0,
  ejected: 0,
  half_open: 0,
  unknown: 1,
  healthy: 2,
};

function failingFirst(a: Seen, b: Seen): number {
  return RANK[a.status] - RANK[b.status] || (a.data_plane < b.data_plane ? -1 : 1);
}

function countsOf(states: readonly State[]) {
  const healthy = states.filter((state) => state === 'healthy').length;
  const unknown = states.filter((state) => state === 'unknown').length;
  return { healthy, failing: states.length - healthy - unknown, unknown };
}

function statusOf(states: readonly State[]): ServiceStatus {
  const { healthy, failing } = countsOf(states);
  if (failing === 0) return healthy === 0 ? 'unknown' : 'healthy';
  return healthy === 0 ? 'unhealthy' : 'degraded';
}
