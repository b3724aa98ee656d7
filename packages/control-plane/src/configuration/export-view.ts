import { z } from 'zod';
import { exportedRoute, exportedService } from './declared.ts';
import type { EnvironmentRows } from './plan-apply.ts';
import { referenceNames } from '../fields/reference.ts';

const resources = (kind: string, example: object) =>
  z.array(z.record(z.string(), z.unknown())).meta({
    description: `The ${kind}, by name, without settings that have their defaults.`,
    examples: [[example]],
  });

/** The schema of `exportView`. */
export const exportViewSchema = z
  .object({
    environment: z
      .string()
      .meta({ description: 'The name of the environment.', examples: ['production'] }),
    services: resources('services', { name: 'payments', url: 'https://payments.internal:8443' }),
    routes: resources('routes', { name: 'charges', service: 'payments', timeout_ms: 5000 }),
  })
  .meta({
    id: 'EnvironmentExport',
    description:
      'The services and routes of an environment as apply takes them. Secrets are references such as `${PAYMENTS_TOKEN}`.',
  });

/** The services and routes of an environment in the form that apply takes, in a stable order. */
export function exportView(
  environment: string,
  rows: EnvironmentRows,
): z.output<typeof exportViewSchema> {
  const names = new Map(rows.services.map(({ id, name }) => [id, name]));
  const nameOf = (id: string) => names.get(id) ?? id;
  const reference = referenceNames();
  return {
    environment,
    services: rows.services.map((row) => exportedService(row, reference)),
    routes: rows.routes.map((row) => exportedRoute(row, nameOf)),
  };
}
