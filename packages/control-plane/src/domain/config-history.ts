import { z } from 'zod';
import { RESOURCE_TYPES } from './audit-event.ts';
import { environmentNameField, integerField, objectField, timeView } from './fields.ts';
import { routeView } from './route-view.ts';
import type { Route } from './route.ts';
import { auditedService } from './service-view.ts';
import type { Service } from './service.ts';

/** A row of a service or a route as JSON: times are texts. */
export type StoredRow = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly environment: string;
  readonly name: string;
  readonly revision: number;
  readonly created_at: string;
  readonly updated_at: string;
};

const MAX_VERSION = Number.MAX_SAFE_INTEGER;

export const versionField = integerField(1, MAX_VERSION);

/** A version as the API shows it. */
export const versionViewSchema = z.object({
  environment: z.string(),
  version: z.int(),
  published_at: timeView,
  /** `changed`, or what made it due though nothing was changed. */
  reason: z.string(),
  /** Of services, routes and tokens. */
  changes: z.int(),
  /** The tokens that made them, the first 50. */
  changed_by: z.array(z.string()),
  current: z.boolean(),
});

const resourceView = z.record(z.string(), z.unknown()).nullable();

/** A difference between two versions as the API shows it. */
export const differenceViewSchema = z.object({
  resource_type: z.enum(RESOURCE_TYPES).extract(['service', 'route']),
  id: z.string(),
  name: z.string(),
  change: z.enum(['added', 'removed', 'changed']),
  /** null where it was added. */
  before: resourceView,
  /** null where it was removed. */
  after: resourceView,
});

/** What a roll-back did. */
export const rollBackViewSchema = z.object({
  environment: z.string(),
  /** The version that services and routes are again what they were at. */
  restored_version: z.int(),
  /** false: they were that already. */
  changed: z.boolean(),
  services: z.object({ created: z.int(), updated: z.int(), deleted: z.int() }),
  routes: z.object({ created: z.int(), updated: z.int(), deleted: z.int() }),
});

export const rollBackSchema = objectField({
  environment: environmentNameField,
  version: versionField,
});

/** A stored row as the API shows the resource, without what is no setting; it holds no secret. */
export function storedView(kind: 'service' | 'route', row: StoredRow): object {
  const times = { created_at: new Date(row.created_at), updated_at: new Date(row.updated_at) };
  return kind === 'service'
    ? auditedService({ ...(row as unknown as Service), ...times })
    : routeView({ ...(row as unknown as Route), ...times });
}

/** The difference from one version to another. */
export function differenceView(
  kind: 'service' | 'route',
  id: string,
  before: StoredRow | null,
  after: StoredRow | null,
) {
  return {
    ...{ resource_type: kind, id, name: (after ?? before)?.name ?? '' },
    change: before === null ? 'added' : after === null ? 'removed' : 'changed',
    before: before === null ? null : storedView(kind, before),
    after: after === null ? null : storedView(kind, after),
  };
}
