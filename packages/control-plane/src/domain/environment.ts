import { z } from 'zod';
import { environmentNameField, objectField, timeView } from './fields.ts';

export const environmentInputSchema = objectField({ name: environmentNameField }).meta({
  id: 'EnvironmentCreate',
  description: 'A new environment.',
  examples: [{ name: 'staging' }],
});

/** A stored environment. */
export interface Environment {
  readonly name: string;
  readonly config_version: number;
  readonly created_at: Date;
}

/** The schema of `environmentView`. */
export const environmentViewSchema = z
  .object({
    name: z.string(),
    config_version: z.int().meta({ description: 'The version of the newest published snapshot.' }),
    created_at: timeView,
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
