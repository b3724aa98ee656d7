import { z } from 'zod';
import { environmentNameField, objectField, timeView } from './fields.ts';

export const environmentInputSchema = objectField({ name: environmentNameField });

export interface Environment {
  readonly name: string;
  readonly config_version: number;
  readonly created_at: Date;
}

/** An environment as audit events show it: its version counts what is published. */
export function auditedEnvironment({ name, created_at }: Environment): object {
  return { name, created_at: created_at.toISOString() };
}

/** An environment as the API shows it; `config_version` is that of its newest published snapshot. */
export const environmentViewSchema = z.object({
  name: z.string(),
  config_version: z.int(),
  created_at: timeView,
});

export function environmentView(environment: Environment): z.output<typeof environmentViewSchema> {
  const { name, config_version } = environment;
  return { name, config_version, created_at: environment.created_at.toISOString() };
}
