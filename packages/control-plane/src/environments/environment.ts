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

/** An environment as the API shows it. */
export function environmentView(environment: Environment): z.output<typeof environmentViewSchema> {
  return environmentViewSchema.parse(environment);
}

const auditedEnvironmentSchema = environmentViewSchema.omit({ config_version: true });

/** An environment as audit events show it: without its version, which is not a setting. */
export function auditedEnvironment(environment: Environment): object {
  return auditedEnvironmentSchema.parse(environment);
}
