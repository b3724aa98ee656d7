import { z } from 'zod';
import { changesOf, resourceChangeSchema } from './apply-view.ts';
import { storedRow, versionField, type StoredRoute, type StoredService } from './config-history.ts';
import { wholeRoute, wholeService } from './declared.ts';
import { environmentNameField, objectField } from '../fields/fields.ts';
import type { RollBackPlan } from './roll-back.ts';

/** The largest number of changes in an answer. The counts are of all. */
const SHOWN_CHANGES = 1000;

const countsSchema = z.object({
  created: z.int().meta({ description: 'How many are created.', examples: [0] }),
  updated: z.int().meta({ description: 'How many are changed.', examples: [1] }),
  deleted: z.int().meta({ description: 'How many are deleted.', examples: [0] }),
});

/** What a rollback did, or would do. */
export const rollBackViewSchema = z
  .object({
    environment: z
      .string()
      .meta({ description: 'The name of the environment.', examples: ['production'] }),
    restored_version: z
      .int()
      .meta({ description: 'Services and routes are as in this version.', examples: [41] }),
    dry_run: z.boolean().meta({
      description: 'true: nothing was changed; this is what would change.',
      examples: [false],
    }),
    changed: z
      .boolean()
      .meta({ description: 'Whether anything differs from that version.', examples: [true] }),
    services: countsSchema.meta({ description: 'The changes of services.' }),
    routes: countsSchema.meta({ description: 'The changes of routes.' }),
    changes: z.array(resourceChangeSchema).meta({
      description: `Each change: services, then routes, by name; at most ${SHOWN_CHANGES}.`,
    }),
  })
  .meta({ id: 'RollbackResult', description: 'What a rollback has changed, or would change.' });

const dryRunField = z
  .boolean({ error: 'must be true or false' })
  .default(false)
  .meta({
    description: 'Shows what would change, and changes nothing. It needs the same rights.',
    examples: [false],
  });

export const environmentRollBackSchema = objectField({
  version: versionField.meta({ description: 'The version to restore.', examples: [41] }),
  dry_run: dryRunField,
}).meta({
  id: 'EnvironmentRollback',
  description: 'The version to restore.',
  examples: [{ version: 41 }],
});

export const rollBackSchema = objectField({
  environment: environmentNameField,
  version: versionField,
  dry_run: dryRunField,
}).meta({
  id: 'Rollback',
  description: 'The version to restore.',
  examples: [{ environment: 'production', version: 41 }],
});

/** What a rollback changes. */
export interface RollBackPlans {
  readonly service: RollBackPlan<StoredService>;
  readonly route: RollBackPlan<StoredRoute>;
}

/** What a rollback changes, as the API shows it. No secret is in it. */
export function rollBackView(
  {
    environment,
    version,
    dryRun,
  }: {
    readonly environment: string;
    readonly version: number;
    readonly dryRun: boolean;
  },
  plans: RollBackPlans,
  serviceNames: ReadonlyMap<string, string>,
): z.output<typeof rollBackViewSchema> {
  const service = (row: StoredService) => wholeService(storedRow('service', row));
  const nameOf = (id: string) => serviceNames.get(id) ?? id;
  const route = (row: StoredRoute) => wholeRoute(storedRow('route', row), nameOf);
  const changes = [
    ...changesOf('service', plans.service, service, false),
    ...changesOf('route', plans.route, route, false),
  ];
  return rollBackViewSchema.parse({
    environment,
    restored_version: version,
    dry_run: dryRun,
    changed: changes.length > 0,
    services: countsOf(plans.service),
    routes: countsOf(plans.route),
    changes: changes.slice(0, SHOWN_CHANGES),
  });
}

/** How much a plan changes. */
export function countsOf({ create, update, remove }: RollBackPlan) {
  return { created: create.length, updated: update.length, deleted: remove.length };
}
