import { SCOPES, type TokenReach } from '@gateway/shared/tokens/scopes';
import { z } from 'zod';
import {
  choiceField,
  displayNameField,
  environmentNameField,
  integerField,
  listField,
  objectField,
  routeNameField,
  timeView,
} from './fields.ts';

const everything = z.literal('*');

function namesField(name: z.ZodType<string>, what: string) {
  const item = z.union([everything, name], { error: `must be * or the name of ${what}` });
  return listField(item, { min: 1, max: 1000 });
}

const DAY_SECONDS = 24 * 60 * 60;
/** With its offset a time of this year may be one of the next, for which RFC 3339 has no form. */
const LAST_TIME_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The body that creates a token. `routes` left out means all, for which the maker must have all. */
export const tokenInputSchema = objectField({
  name: displayNameField,
  environments: namesField(environmentNameField, 'an environment'),
  routes: namesField(routeNameField, 'a route').optional(),
  scopes: listField(choiceField(SCOPES), { min: 1, max: SCOPES.length }),
  expires_at: z.iso
    .datetime({ offset: true, abort: true, error: 'must be a time as in 2030-01-31T12:00:00Z' })
    .refine((text) => Date.parse(text) <= LAST_TIME_MS, { error: 'must be before the year 10000' })
    .nullable()
    .optional(),
});

export type TokenInput = z.output<typeof tokenInputSchema>;

/** The old secret of a rotated token is good for so long. */
export const rotationSchema = objectField({
  grace_seconds: integerField(0, 7 * DAY_SECONDS).default(3600),
}).prefault({});

export interface Token extends TokenReach {
  readonly id: string;
  readonly name: string;
  readonly environments: string[];
  readonly routes: string[];
  readonly scopes: string[];
  readonly expires_at: Date | null;
  readonly created_by: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** To within about a minute. */
  readonly last_used_at: Date | null;
}

/** A token as the API shows it: never its secret, nor the hash of it. */
export const tokenViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  environments: z.array(z.string()),
  routes: z.array(z.string()),
  scopes: z.array(z.string()),
  expires_at: timeView.nullable(),
  created_by: z.string().nullable(),
  created_at: timeView,
  updated_at: timeView,
  /** To within about a minute, on the management API or a data plane; null: never. */
  last_used_at: timeView.nullable(),
});

/** The one answer that shows the secret: to the call that made it. */
export const tokenWithSecretSchema = tokenViewSchema.extend({ secret: z.string() });

export function tokenView(token: Token): z.output<typeof tokenViewSchema> {
  const { id, name, environments, routes, scopes, created_by } = token;
  return {
    ...{ id, name, environments, routes, scopes },
    expires_at: token.expires_at?.toISOString() ?? null,
    created_by,
    created_at: token.created_at.toISOString(),
    updated_at: token.updated_at.toISOString(),
    last_used_at: token.last_used_at?.toISOString() ?? null,
  };
}

/** A token as audit events show it: without its use, which is no change of it. */
export function auditedToken(token: Token): object {
  const shown: Partial<ReturnType<typeof tokenView>> = tokenView(token);
  delete shown.last_used_at;
  return shown;
}
