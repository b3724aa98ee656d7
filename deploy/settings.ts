import { STOP_TIMEOUT_MS, variables as ofControlPlane } from '@gateway/control-plane/config';
import { STOP_MARGIN_MS, variables as ofDataPlane } from '@gateway/data-plane/config';
import type { z } from 'zod';

/** The settings of each plane, for tests that compare deployments with the code. */
export const SETTINGS = {
  'control-plane': ofControlPlane.shape,
  'data-plane': ofDataPlane.shape,
} as const;

export type PlaneName = keyof typeof SETTINGS;

/** Variables that Node, glibc and the image read, not the product. */
const OF_NODE = new Set(['NODE_EXTRA_CA_CERTS']);

/** What is wrong with the names of these variables for this plane: unknown ones, and required ones that are missing. */
export function wrongNames(plane: PlaneName, names: readonly string[]): string[] {
  const shape: Readonly<Record<string, z.ZodType>> = SETTINGS[plane];
  const unknown = names.filter((name) => !Object.hasOwn(shape, name) && !OF_NODE.has(name));
  const missing = Object.entries(shape).flatMap(([name, schema]) =>
    schema.safeParse(undefined).success || names.includes(name) ? [] : [name],
  );
  return [
    ...unknown.map((name) => `${plane}: ${name} is no setting`),
    ...missing.map((name) => `${plane}: ${name} is not set`),
  ];
}

/** The values that are invalid for this plane, of those that are given in plain text. */
export function invalidValues(
  plane: PlaneName,
  values: Readonly<Record<string, string>>,
): string[] {
  const shape: Readonly<Record<string, z.ZodType>> = SETTINGS[plane];
  return Object.entries(values).flatMap(([name, value]) => {
    const result = shape[name]?.safeParse(value);
    return result === undefined || result.success
      ? []
      : [`${plane}: ${name}: ${result.error.message}`];
  });
}

/** The longest time from SIGTERM until a plane with these settings has ended, ms. */
export function stopTimeMs(plane: PlaneName, values: Readonly<Record<string, string>>): number {
  if (plane === 'control-plane') return STOP_TIMEOUT_MS;
  return ofDataPlane.shape.DRAIN_TIMEOUT_MS.parse(values['DRAIN_TIMEOUT_MS']) + STOP_MARGIN_MS;
}
