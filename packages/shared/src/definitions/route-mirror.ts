import { z } from 'zod';
import {
  booleanField,
  displayNameField,
  exampleId,
  idField,
  integerField,
  objectField,
} from './fields.ts';

const percentError = 'must be a number from 0 to 100';

const mirrorFields = {
  percent: z
    .number({ error: percentError })
    .min(0, { error: percentError })
    .max(100, { error: percentError })
    .default(100)
    .meta({
      title: 'Share of requests',
      'x-unit': '%',
      description: 'The share of the requests that are copied, in percent; fractions are allowed.',
      examples: [5],
    }),
  max_body_bytes: integerField(0, 10 * 1024 * 1024)
    .default(64 * 1024)
    .meta({
      title: 'Largest copied body',
      'x-unit': 'bytes',
      description: 'Requests with a larger body are not copied.',
      examples: [64 * 1024],
    }),
  pass_credentials: booleanField()
    .default(false)
    .meta({
      title: 'Pass on the credentials of callers',
      description:
        'Whether copies have what the caller sends in `Authorization`, `X-API-Key` and `Cookie`, as far as the upstream of the route gets it.',
      examples: [false],
    }),
};

/** Where copies of the requests of a route go, besides its own service. Their responses are dropped. */
export const mirrorField = objectField({
  service_id: idField.meta({
    title: 'Mirror service',
    description: 'The service that gets the copies. It must not be a service of the route.',
    examples: [exampleId('svc')],
  }),
  ...mirrorFields,
})
  .nullable()
  .default(null)
  .meta({
    title: 'Mirror',
    description:
      'The service that gets copies of the requests; callers get nothing of its responses. null: no copies are made.',
    examples: [
      null,
      {
        service_id: exampleId('svc'),
        percent: 5,
        max_body_bytes: 65_536,
        pass_credentials: false,
      },
    ],
  });

/** The same in a declared configuration, which names services by their names. */
export const declaredMirrorField = objectField({
  service: displayNameField.meta({
    description: 'The name of the service that gets the copies.',
    examples: ['payments-next'],
  }),
  ...mirrorFields,
})
  .nullable()
  .default(null);

export type RouteMirror = NonNullable<z.output<typeof mirrorField>>;

/** What names services: by their ids, or in a declared configuration by their names. */
interface NamedService {
  readonly service_id?: string | null | undefined;
  readonly service?: string | null | undefined;
}

export interface MirroringRoute extends NamedService {
  readonly versions?: readonly NamedService[] | null | undefined;
  readonly mirror?: NamedService | null | undefined;
  /** Not null: the route answers itself. */
  readonly respond?: object | null | undefined;
  readonly redirect?: object | null | undefined;
}

/** Why the mirror does not fit the service of the route. */
export function* mirrorProblems({ versions, mirror, ...route }: MirroringRoute) {
  const mirrored = mirror?.service_id ?? mirror?.service ?? undefined;
  if (mirrored === undefined) return;
  if (route.respond || route.redirect) {
    yield { path: ['mirror'], message: 'must be null on a route that answers itself' };
    return;
  }
  const field = typeof mirror?.service_id === 'string' ? 'service_id' : 'service';
  if ([route, ...(versions ?? [])].some((one) => one[field] === mirrored)) {
    yield { path: ['mirror', field], message: 'must not be a service of the route' };
  }
}
