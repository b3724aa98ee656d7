import { z } from 'zod';
import { exampleId } from '@gateway/shared/definitions/fields';
import type { Route } from '../routes/route.ts';
import type { Service } from '../services/service.ts';
import type { ApplyDocument } from './apply-document.ts';
import { storedRow } from './config-history.ts';
import { fieldChanges, wholeRoute, wholeService } from './declared.ts';
import type { EnvironmentRows } from './plan-apply.ts';
import type { RowChange, RowKind } from './row-change.ts';

const declaredView = z.record(z.string(), z.unknown()).nullable();

const fieldChangeSchema = z
  .object({
    path: z.string().meta({
      description: 'The field, as a JSON pointer into the resource.',
      examples: ['/rate_limit/limit'],
    }),
    before: z.unknown().meta({ description: 'The old value. null: none.', examples: [60_000] }),
    after: z.unknown().meta({ description: 'The new value. null: none.', examples: [1000] }),
    secret_changed: z
      .literal(true)
      .optional()
      .meta({
        description: 'true: the secret differs. No secret is shown.',
        examples: [true],
      }),
  })
  .meta({ description: 'A field that differs.' });

/** A change of a resource as the API shows it. */
export const resourceChangeSchema = z
  .object({
    resource_type: z
      .enum(['service', 'route'])
      .meta({ description: 'The kind of resource.', examples: ['route'] }),
    resource_id: z
      .string()
      .nullable()
      .meta({
        description: 'The id of the resource. null: a dry run would create it.',
        examples: [exampleId('rte')],
      }),
    name: z.string().meta({ description: 'The name of the resource.', examples: ['charges'] }),
    action: z
      .enum(['created', 'updated', 'deleted'])
      .meta({ description: 'What happens to it.', examples: ['updated'] }),
    fields: z
      .array(fieldChangeSchema)
      .meta({ description: 'Of an update: the fields that differ.' }),
    before: declaredView.meta({
      description: 'Of a deletion: the resource with all its settings.',
      examples: [null],
    }),
    after: declaredView.meta({
      description: 'Of a creation: the resource with all its settings.',
      examples: [null],
    }),
  })
  .meta({ description: 'A change of a resource.' });

const count = (description: string) => z.int().meta({ description, examples: [1] });
const countsSchema = (kind: string) =>
  z
    .object({
      created: count('How many are created.'),
      updated: count('How many are changed.'),
      deleted: count('How many are deleted.'),
      unchanged: count('How many of the document are the same already.'),
    })
    .meta({ description: `The counts of ${kind}.` });

/** The schema of `applyView`. */
export const applyViewSchema = z
  .object({
    environment: z
      .string()
      .meta({ description: 'The name of the environment.', examples: ['production'] }),
    dry_run: z.boolean().meta({
      description: 'true: nothing was changed; this is what would change.',
      examples: [false],
    }),
    changed: z.boolean().meta({ description: 'Whether anything differs.', examples: [true] }),
    services: countsSchema('services'),
    routes: countsSchema('routes'),
    changes: z
      .array(resourceChangeSchema)
      .meta({ description: 'Each change: services, then routes, by name.' }),
  })
  .meta({ id: 'ApplyResult', description: 'What an apply has changed, or would change.' });

type ResourceChange = z.input<typeof resourceChangeSchema>;

/** What an apply changes, as the API shows it. No secret is in it. */
export function applyView(
  environment: string,
  { dry_run: dryRun, services = [], routes = [] }: ApplyDocument,
  rows: EnvironmentRows,
  changes: readonly RowChange[],
): z.output<typeof applyViewSchema> {
  return applyViewSchema.parse({
    environment,
    dry_run: dryRun,
    changed: changes.length > 0,
    services: applyCountsOf('service', changes, services.length),
    routes: applyCountsOf('route', changes, routes.length),
    changes: changeViews(changes, serviceNames(rows.services, changes), dryRun),
  });
}

/** How many of a kind are changed, and how many of `declared` ones stay as they are. */
function applyCountsOf(kind: RowKind, changes: readonly RowChange[], declared: number) {
  const counts = countsOf(kind, changes);
  return { ...counts, unchanged: declared - counts.created - counts.updated };
}

/** How many of a kind are changed. */
export function countsOf(kind: RowKind, changes: readonly RowChange[]) {
  const actions = changes.flatMap((change) => (change.kind === kind ? [actionOf(change)] : []));
  const count = (wanted: string) => actions.filter((action) => action === wanted).length;
  return { created: count('created'), updated: count('updated'), deleted: count('deleted') };
}

/** What is done to a row. */
export function actionOf({ before, after }: RowChange): 'created' | 'updated' | 'deleted' {
  if (before === null) return 'created';
  return after === null ? 'deleted' : 'updated';
}

/** The names of services by their ids. */
export function serviceNames(
  present: readonly { readonly id: string; readonly name: string }[],
  changes: readonly RowChange[],
): ReadonlyMap<string, string> {
  const created = changes.flatMap(({ kind, before, after }) =>
    kind === 'service' && before === null && after !== null ? [after] : [],
  );
  return new Map([...present, ...created].map(({ id, name }) => [id, name]));
}

/**
 * Changes as the API shows them: services, then routes, by name.
 *
 * @param hidesNewIds of a dry run that would make new resources, whose ids are not known
 */
export function changeViews(
  changes: readonly RowChange[],
  names: ReadonlyMap<string, string>,
  hidesNewIds: boolean,
): readonly ResourceChange[] {
  const whole = (kind: RowKind, row: object) =>
    kind === 'service'
      ? wholeService(storedRow(kind, row as Service))
      : wholeRoute(row as Route, (id) => names.get(id) ?? id);
  const views = changes.map((change): ResourceChange => {
    const { kind: resource_type, before, after } = change;
    const [old, present] = [before, after].map((row) => row && whole(resource_type, row));
    const isUpdate = old && present;
    const id = before === null && hidesNewIds ? null : (before ?? after)?.id;
    return {
      resource_type,
      resource_id: id ?? null,
      name: (before ?? after)?.name ?? '',
      action: actionOf(change),
      fields: isUpdate ? [...fieldChanges(old, present), ...secretChanges(change)] : [],
      before: isUpdate ? null : (old ?? null),
      after: isUpdate ? null : (present ?? null),
    };
  });
  return views.sort((a, b) => {
    const isOfKind = a.resource_type === b.resource_type;
    return (isOfKind ? a.name < b.name : a.resource_type === 'service') ? -1 : 1;
  });
}

/** Secrets that differ although what is shown of them does not. */
function secretChanges({ kind, before, after }: RowChange): ResourceChange['fields'] {
  if (kind !== 'service' || before === null || after === null) return [];
  const secrets = [
    ['/credential', before.credential, after.credential],
    ['/tls/client_certificate', before.client_key, after.client_key],
  ] as const;
  return secrets
    .filter(([, old, present]) => old && present && old.sealed !== present.sealed)
    .map(([path]) => ({ path, before: null, after: null, secret_changed: true as const }));
}
