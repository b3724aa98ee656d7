import { z } from 'zod';
import { idField, integerField, objectField, textField } from './fields.ts';

const MAX_VERSIONS = 16;

const versionSchema = objectField({
  name: textField(/^[a-z0-9._-]{1,63}$/, 'must be 1 to 63 characters of a-z, 0-9, ., - and _'),
  service_id: idField,
  /** Its share is that of this in the sum over the route; 0 is reached by `X-Gateway-Version` alone. */
  weight: integerField(0, 1000),
});

const listError = `must be a list of 1 to ${MAX_VERSIONS} items`;

/** The versions of a route, between which its requests are divided. Source: DESIGN section 2 "Versions". */
export const versionsField = z
  .array(versionSchema, { error: listError })
  .min(1, { error: listError })
  .max(MAX_VERSIONS, { error: listError })
  .superRefine((versions, context) => {
    const seen = new Set<string>();
    versions.forEach(({ name }, index) => {
      if (seen.has(name)) {
        const message = 'is the name of another version';
        context.addIssue({ code: 'custom', path: [index, 'name'], message });
      }
      seen.add(name);
    });
    if (versions.length > 0 && versions.every(({ weight }) => weight === 0)) {
      context.addIssue({ code: 'custom', message: 'must hold a weight above 0' });
    }
  });

export type RouteVersion = Readonly<z.output<typeof versionSchema>>;

/** Where a route leads: to one service, or to versions of which each names one. */
export interface RouteTarget {
  readonly service_id: string | null;
  readonly versions: readonly RouteVersion[] | null;
}

interface TargetInput {
  readonly service_id?: string | null | undefined;
  readonly versions?: readonly RouteVersion[] | null | undefined;
}

/** What `null` and what is left out mean in a new route: not this one. */
export function targetOf({ service_id = null, versions = null }: TargetInput): RouteTarget {
  return { service_id, versions };
}

/** The target after a change: a service takes the place of versions, and versions that of a service. */
export function changeTarget(before: RouteTarget, change: TargetInput): RouteTarget {
  if (typeof change.service_id === 'string') {
    return { service_id: change.service_id, versions: null };
  }
  if (change.versions) return { service_id: null, versions: change.versions };
  const { service_id = before.service_id, versions = before.versions } = change;
  return { service_id, versions };
}

export function namesAny(target: RouteTarget): boolean {
  return target.service_id !== null || target.versions !== null;
}

/** Each service that a target names, with where it names it. */
export function namedServices(target: RouteTarget): { id: string; path: string }[] {
  const named = (target.versions ?? []).map(({ service_id: id }, index) => ({
    id,
    path: `versions.${index}.service_id`,
  }));
  return target.service_id === null
    ? named
    : [{ id: target.service_id, path: 'service_id' }, ...named];
}
