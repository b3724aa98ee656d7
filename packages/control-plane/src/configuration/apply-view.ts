import { z } from 'zod';
import type { StoredRoute, StoredRow } from './config-history.ts';
import { fieldChanges, wholeRoute, wholeService } from './declared.ts';
import { exampleId } from '../fields/fields.ts';
import type { ApplyPlan, EnvironmentRows, KindPlan } from './plan-apply.ts';
import type { RollBackPlan } from './roll-back.ts';

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

/** What a plan changes, as the API shows it. No secret is in it. */
export function applyView(
  environment: string,
  dryRun: boolean,
  rows: EnvironmentRows,
  plan: ApplyPlan,
): z.output<typeof applyViewSchema> {
  const names = new Map(
    [...rows.services, ...plan.service.create].map(({ id, name }) => [id, name]),
  );
  const nameOf = (id: string) => names.get(id) ?? id;
  const route = (row: StoredRoute) => wholeRoute(row, nameOf);
  const changes = [
    ...changesOf('service', plan.service, wholeService, dryRun),
    ...changesOf('route', plan.route, route, dryRun),
  ];
  return applyViewSchema.parse({
    environment,
    dry_run: dryRun,
    changed: changes.length > 0,
    services: countsOf(plan.service),
    routes: countsOf(plan.route),
    changes,
  });
}

/** The changes of a plan, by name. */
export function changesOf<Row extends StoredRow>(
  resource_type: 'service' | 'route',
  plan: RollBackPlan<Row>,
  declared: (row: Row) => Readonly<Record<string, unknown>>,
  dryRun: boolean,
): readonly ResourceChange[] {
  const none = { fields: [], before: null, after: null };
  const created = plan.create.map((row): ResourceChange => ({
    ...none,
    resource_type,
    resource_id: dryRun ? null : row.id,
    name: row.name,
    action: 'created',
    after: declared(row),
  }));
  const updated = plan.update.map(({ before, after }): ResourceChange => ({
    ...none,
    resource_type,
    resource_id: before.id,
    name: before.name,
    action: 'updated',
    fields: [...fieldChanges(declared(before), declared(after)), ...secretChanges(before, after)],
  }));
  const deleted = plan.remove.map((row): ResourceChange => ({
    ...none,
    resource_type,
    resource_id: row.id,
    name: row.name,
    action: 'deleted',
    before: declared(row),
  }));
  return [...created, ...updated, ...deleted].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Secrets that differ although what is shown of them does not. */
function secretChanges(before: StoredRow, after: StoredRow): ResourceChange['fields'] {
  const secrets = [
    ['/credential', 'credential'],
    ['/tls/client_certificate', 'client_key'],
  ] as const;
  return secrets
    .filter(([, column]) => {
      const [old, present] = [sealedText(before[column]), sealedText(after[column])];
      return old !== undefined && present !== undefined && old !== present;
    })
    .map(([path]) => ({ path, before: null, after: null, secret_changed: true as const }));
}

/** The encrypted text in a column with a secret; undefined: there is none, as in every route. */
function sealedText(column: unknown): unknown {
  if (typeof column !== 'object' || column === null) return undefined;
  return 'sealed' in column ? column.sealed : undefined;
}

function countsOf({ create, update, remove, unchanged }: KindPlan) {
  return {
    created: create.length,
    updated: update.length,
    deleted: remove.length,
    unchanged,
  };
}
