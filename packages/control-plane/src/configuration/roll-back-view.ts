import { z } from 'zod';
import { environmentNameField, objectField } from '@gateway/shared/definitions/fields';
import { changeViews, countsOf, resourceChangeSchema } from './apply-view.ts';
import { versionField } from './config-history.ts';
import type { RowChange } from './row-change.ts';

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
  changes: readonly RowChange[],
  names: ReadonlyMap<string, string>,
): z.output<typeof rollBackViewSchema> {
  return rollBackViewSchema.parse({
    environment,
    restored_version: version,
    dry_run: dryRun,
    changed: changes.length > 0,
    services: countsOf('service', changes),
    routes: countsOf('route', changes),
    changes: changeViews(changes, names, false).slice(0, SHOWN_CHANGES),
  });
}
