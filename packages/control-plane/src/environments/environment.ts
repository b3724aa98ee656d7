import { z } from 'zod';
import { environmentNameField, objectField } from '@gateway/shared/definitions/fields';
import { idView, timeField } from '../fields/response-fields.ts';

export const environmentInputSchema = objectField({
  name: environmentNameField.meta({
    description: 'The name of the environment.',
    examples: ['staging'],
  }),
}).meta({
  id: 'EnvironmentCreate',
  description: 'A new environment.',
  examples: [{ name: 'staging' }],
});

/** How far the configuration of an environment is published. */
export interface EnvironmentVersion {
  readonly id: string;
  /** The newest version. */
  readonly config_version: number;
  /** The version that published its creation; null until then. */
  readonly first_version: number | null;
}

/** A stored environment. */
export interface Environment extends EnvironmentVersion {
  readonly name: string;
  readonly created_at: Date;
}

/** The schema of `environmentView`. */
export const environmentViewSchema = z
  .object({
    id: idView(
      'env',
      'The id of the environment. One that is created under the name of a deleted one has another id.',
    ),
    name: z
      .string()
      .meta({ description: 'The name of the environment.', examples: ['production'] }),
    config_version: z
      .int()
      .meta({ description: 'The newest published version of its configuration.', examples: [42] }),
    created_at: timeField('When it was created.'),
  })
  .meta({ id: 'Environment', description: 'An environment.' });

const count = (what: string, scope: string) =>
  z
    .int()
    .nullable()
    .meta({
      description: `How many ${what} it has. null: the token lacks ${scope}.`,
      examples: [12],
    });

/** The schema of an environment of the list. */
export const listedEnvironmentSchema = environmentViewSchema
  .extend({
    counts: z
      .object({
        services: count('services', '`services:read`'),
        routes: count('routes', '`routes:read` for all routes'),
        tokens: count(
          'tokens of its own',
          '`tokens:read` for all environments and routes. Tokens of all environments are not counted',
        ),
      })
      .nullable()
      .meta({ description: 'What it has. null without `counts`.' }),
  })
  .meta({ id: 'ListedEnvironment', description: 'An environment of the list.' });

export type ListedCounts = z.input<typeof listedEnvironmentSchema>['counts'];

/** An environment of the list as the API shows it. */
export function listedEnvironmentView(environment: Environment, counts: ListedCounts) {
  return listedEnvironmentSchema.parse({ ...environment, counts });
}

/** An environment as the API shows it. */
export function environmentView(environment: Environment): z.output<typeof environmentViewSchema> {
  return environmentViewSchema.parse(environment);
}

const auditedEnvironmentSchema = environmentViewSchema.omit({ config_version: true });

/** An environment as audit events show it: without its version, which is not a setting. */
export function auditedEnvironment(environment: Environment): object {
  return auditedEnvironmentSchema.parse(environment);
}
