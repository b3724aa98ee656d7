import { z } from 'zod';
import { parseAddressRanges } from '../net/client-address.ts';

/** A configuration that does not hold: the message is one line that names each variable and its reason. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Parses the environment variables that the schema names into a frozen object.
 * An empty variable counts as absent.
 *
 * @throws ConfigError naming every variable that is wrong, never its value, as it may be a secret.
 */
export function parseEnvironment<T extends z.ZodObject>(
  schema: T,
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<z.output<T>> {
  const given: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = environment[name];
    if (value !== undefined && value !== '') given[name] = value;
  }
  const result = schema.safeParse(given);
  if (result.success) return Object.freeze(result.data);
  const reasons = result.error.issues.map((issue) => {
    const name = String(issue.path[0] ?? '');
    return given[name] === undefined ? `${name} is not set` : `${name}: ${issue.message}`;
  });
  throw new ConfigError(reasons.join('; '));
}

/** A whole number within bounds, as text. */
export function integerVariable(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .pipe(z.number().min(min, message).max(max, message));
}

export const portVariable = integerVariable(0, 65_535);

/** A list of texts with commas between; spaces around each are dropped. */
export const listVariable = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

/** A list of addresses and CIDR ranges. */
export const addressRangesVariable = listVariable.transform((texts, context) => {
  try {
    return parseAddressRanges(texts);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : '' });
    return z.NEVER;
  }
});

export const logLevelVariable = z.enum([
  'fatal',
  'error',
  'warn',
  'info',
  'debug',
  'trace',
  'silent',
]);

export const environmentNameVariable = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be a name of a-z, 0-9 and -');
