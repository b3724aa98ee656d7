import { z } from 'zod';
import { parseAddressRanges } from '../net/client-address.ts';

/** An invalid configuration. The message is one line that names each variable and the rule that it breaks. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Parses the environment variables of the schema into a frozen object. An empty variable counts as not set.
 *
 * @throws ConfigError that names every invalid variable, without its value, which may be a secret
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

/** A whole number from `min` to `max`. */
export function integerVariable(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .pipe(z.number().min(min, message).max(max, message));
}

export const portVariable = integerVariable(0, 65_535);

/** A comma-separated list; spaces around the items are ignored. */
export const listVariable = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

/** A comma-separated list of IP addresses and CIDR ranges. */
export const addressRangesVariable = listVariable.transform((items, context) => {
  try {
    return parseAddressRanges(items);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : '' });
    return z.NEVER;
  }
});

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export const logLevelVariable = z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`);

export const environmentNameVariable = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    'must be 1 to 63 of a-z, 0-9 and -, and must not start with -',
  );
