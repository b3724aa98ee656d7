import { z } from 'zod';
import { RESOURCE_TYPES } from '../audit/audit-event.ts';
import { exampleId, integerField } from '@gateway/shared/definitions/fields';
import { idView, timeField } from '../fields/response-fields.ts';
import { objectFields, withDefaults } from '@gateway/shared/definitions/derived-schemas';
import { storedRouteFields } from '@gateway/shared/definitions/route';
import { auditedRoute, type Route } from '../routes/route.ts';
import { serviceFields } from '@gateway/shared/definitions/service';
import { auditedService, type Service } from '../services/service.ts';

const MAX_VERSION = Number.MAX_SAFE_INTEGER;

export const versionField = integerField(1, MAX_VERSION).meta({
  description: 'The number of a version.',
  examples: [41],
});

const ENVIRONMENT = z
  .string()
  .meta({ description: 'The name of the environment.', examples: ['production'] });

/** The largest number of resources in `changed_resources`. */
export const SHOWN_RESOURCES = 10;

const changeField = z
  .enum(['added', 'removed', 'changed'])
  .meta({ description: 'What differs.', examples: ['changed'] });

/** The service or route that a version changed. */
const versionedResourceFields = {
  resource_type: z
    .enum(RESOURCE_TYPES)
    .extract(['service', 'route'])
    .meta({ description: 'The kind of resource.', examples: ['route'] }),
  resource_id: idView('rte', 'The id of the resource.'),
};

const changedResourceSchema = z
  .object({
    ...versionedResourceFields,
    name: z.string().meta({ description: 'The name of the resource.', examples: ['charges'] }),
    change: changeField,
    fields: z.array(z.string()).meta({
      description: 'The names of the fields that differ; empty if it was added or removed.',
      examples: [['status']],
    }),
  })
  .meta({ description: 'A service or a route that a version changed.' });

/** A version as the API shows it. */
export const versionViewSchema = z
  .object({
    environment: ENVIRONMENT,
    version: z
      .int()
      .meta({ description: 'The number of the version. Numbers rise by 1.', examples: [42] }),
    published_at: timeField('When the version was published.'),
    reason: z.string().meta({
      examples: ['changed'],
      description: '`changed`, or why the version was published although nothing had changed.',
    }),
    changes: z.int().meta({
      description: 'The number of changes of services, routes and tokens.',
      examples: [1],
    }),
    changed_resources: z.array(changedResourceSchema).meta({
      description: `The services and routes that they changed and that the token covers, at most ${SHOWN_RESOURCES}.`,
    }),
    restored_version: z
      .int()
      .nullable()
      .meta({
        description: 'The version that a rollback restored with this one. null: none.',
        examples: [null],
      }),
    changed_by: z.array(z.string()).meta({
      description: 'The ids of the tokens that made them, at most 50.',
      examples: [[exampleId('tok')]],
    }),
    current: z.boolean().meta({
      description: 'Whether it is the newest version. A former one never is.',
      examples: [true],
    }),
    former: z.boolean().meta({
      description:
        'Whether it is a version of a deleted environment that had the name before. Only a token of all environments ' +
        'sees such versions, and a rollback to one is not possible.',
      examples: [false],
    }),
  })
  .meta({ id: 'ConfigVersion', description: 'A version of the configuration of an environment.' });

/** A stored version; the API shows `why` as `reason`. */
export type ConfigVersion = Readonly<
  Omit<z.output<typeof versionViewSchema>, 'published_at' | 'reason'>
> & {
  readonly published_at: Date;
  readonly why: string;
};

/** A version as the API shows it. */
export function versionView(version: ConfigVersion): z.output<typeof versionViewSchema> {
  return versionViewSchema.parse({ ...version, reason: version.why });
}

const resourceView = z.record(z.string(), z.unknown()).nullable();

/** A difference between two versions as the API shows it. */
export const differenceViewSchema = z
  .object({
    ...versionedResourceFields,
    id: z.string().meta({
      deprecated: true,
      description: 'The same as `resource_id`.',
      examples: [exampleId('rte')],
    }),
    name: z.string().meta({
      description: 'The name of the resource, in the later version if it is there.',
      examples: ['charges'],
    }),
    change: changeField,
    before: resourceView.meta({
      description: 'The resource in version `from`. null: it was added.',
      examples: [{ timeout_ms: 10_000 }],
    }),
    after: resourceView.meta({
      description: 'The resource in version `to`. null: it was removed.',
      examples: [{ timeout_ms: 5000 }],
    }),
  })
  .meta({
    id: 'ConfigDifference',
    description: 'A service or a route that differs between two versions.',
  });

const SETTINGS = { service: serviceFields, route: storedRouteFields } as const;

/** The default of each setting of a kind that has one, and which of these settings are objects with defaults of their own. */
export function storedDefaults(kind: 'service' | 'route'): {
  readonly defaults: object;
  readonly objects: readonly string[];
} {
  return { defaults: withDefaults(SETTINGS[kind], {}), objects: objectFields(SETTINGS[kind]) };
}

/** A row of the history. A setting that did not exist when the row was stored has its default. */
export function storedRow<Row extends object>(kind: 'service' | 'route', row: Row): Row {
  return withDefaults(SETTINGS[kind], row);
}

/**
 * A row of the history as the API shows it: without health, which is not a setting, and without secrets. The schema of
 * the view checks it.
 */
export function storedView(kind: 'service' | 'route', row: object): object {
  return kind === 'service'
    ? auditedService(storedRow(kind, row) as Service)
    : auditedRoute(row as Route);
}

/** The difference from one version to another. */
export function differenceView(
  kind: 'service' | 'route',
  id: string,
  before: Service | Route | null,
  after: Service | Route | null,
) {
  return {
    resource_type: kind,
    resource_id: id,
    id,
    name: (after ?? before)?.name ?? '',
    change: before === null ? 'added' : after === null ? 'removed' : 'changed',
    before: before === null ? null : storedView(kind, before),
    after: after === null ? null : storedView(kind, after),
  };
}
