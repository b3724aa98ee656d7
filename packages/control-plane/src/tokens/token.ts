import { SCOPES, withContainedScopes, type TokenReach } from '@gateway/shared/tokens/scopes';
import { z } from 'zod';
import { viewShape } from '@gateway/shared/definitions/derived-schemas';
import { readOnlyShape } from '../fields/round-trip.ts';
import {
  choiceField,
  displayNameField,
  environmentNameField,
  exampleId,
  integerField,
  listField,
  objectField,
  routeNameField,
} from '@gateway/shared/definitions/fields';
import { EXAMPLE_TIME, idView, timeField, timeView } from '../fields/response-fields.ts';
import { auditedOr, readStored } from '../fields/unreadable.ts';

function namesField(name: z.ZodType<string>, what: string) {
  const item = z.union([z.literal('*'), name], { error: `must be * or the name of ${what}` });
  return listField(item, { min: 1, max: 1000 });
}

const DAY_SECONDS = 24 * 60 * 60;
/** With an offset, a time in this year may fall into the next one, which RFC 3339 cannot write. */
const LAST_TIME_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The settings that are stored as they are in the body. */
const plainFields = {
  name: displayNameField.meta({
    description:
      'The name of the token, for people. It is unique among the tokens of each environment that it covers; the tokens of all environments (`*`) have names of their own.',
    examples: ['billing'],
  }),
  environments: namesField(environmentNameField, 'an environment').meta({
    description: 'The environments that the token covers. `*`: all.',
    examples: [['production']],
  }),
  routes: namesField(routeNameField, 'a route').meta({
    description: 'The names of the routes that the token covers. `*`: all.',
    examples: [['charges']],
  }),
  scopes: listField(choiceField(SCOPES), { min: 1, max: SCOPES.length }).meta({
    description: 'What the token may do. `*`: everything.',
    examples: [['proxy']],
  }),
};

const expiryField = z.iso
  .datetime({ offset: true, abort: true, error: 'must be a time as in 2030-01-31T12:00:00Z' })
  .refine((text) => Date.parse(text) <= LAST_TIME_MS, { error: 'must be before the year 10000' })
  .nullable()
  .meta({
    description:
      'When the token expires. null: never. If it is left out, it expires with the token of the call.',
    examples: ['2027-01-31T12:00:00Z'],
  });

/** The body that creates a token. Without `routes` it covers all routes, which the caller must cover too. */
export const tokenInputSchema = objectField({
  ...plainFields,
  routes: plainFields.routes.optional().meta({
    description:
      'The names of the routes that the token covers. `*`: all. If it is left out, all; the token of the call must cover them too.',
    examples: [['charges']],
  }),
  expires_at: expiryField.optional(),
}).meta({
  id: 'TokenCreate',
  description: 'A new token.',
  examples: [
    { name: 'billing', environments: ['production'], routes: ['charges'], scopes: ['proxy'] },
  ],
});

export type TokenInput = z.output<typeof tokenInputSchema>;

/** The body that changes a token. Its reach never changes: a new token is needed for another one. */
export const tokenChangeSchema = objectField({
  name: plainFields.name.optional(),
  expires_at: expiryField.optional().meta({
    description: 'When the token expires. null: never.',
    examples: ['2027-01-31T12:00:00Z'],
  }),
  ...readOnlyShape([
    'id',
    'environments',
    'routes',
    'scopes',
    'secret_prefix',
    'created_by',
    'created_at',
    'updated_at',
    'last_used_at',
  ]),
}).meta({
  id: 'TokenUpdate',
  description: 'The fields to change.',
  examples: [{ name: 'billing-2' }],
});

export const rotationSchema = objectField({
  grace_seconds: integerField(0, 7 * DAY_SECONDS)
    .default(3600)
    .meta({ description: 'The seconds that the old secret stays valid.', examples: [3600] }),
})
  .prefault({})
  .meta({
    id: 'TokenRotate',
    description: 'How the old secret ends.',
    examples: [{ grace_seconds: 3600 }],
  });

/** A stored token, without its secrets. */
export interface Token extends TokenReach {
  readonly id: string;
  readonly name: string;
  readonly environments: string[];
  readonly routes: string[];
  readonly scopes: string[];
  readonly expires_at: Date | null;
  readonly secret_prefix: string | null;
  readonly created_by: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Exact to about a minute. */
  readonly last_used_at: Date | null;
}

/** The schema of `tokenView`. */
export const tokenViewSchema = z
  .object({
    id: idView('tok', 'The id of the token.'),
    ...viewShape(plainFields),
    expires_at: timeView.nullable().meta({
      description: 'When the token expires. null: never.',
      examples: ['2027-01-31T12:00:00.000Z'],
    }),
    secret_prefix: z
      .string()
      .nullable()
      .meta({
        description:
          'The begin of its secret, by which secrets can be told apart. null: it is not known, as of the secret in `GATEWAY_ADMIN_TOKEN`.',
        examples: ['gwt_3fG7'],
      }),
    created_by: z
      .string()
      .nullable()
      .meta({
        description: 'The token that created it. null: the control plane.',
        examples: [exampleId('tok')],
      }),
    created_at: timeField('When it was created.'),
    updated_at: timeField('When it was last changed.'),
    last_used_at: timeView.nullable().meta({
      examples: [EXAMPLE_TIME],
      description:
        'When it was last used, exact to about a minute. Calls of this API and of routes count. null: never.',
    }),
  })
  .meta({ id: 'Token', description: 'A token, without its secret.' });

/** The response of the call that creates or rotates a secret; no other response shows it. */
export const tokenWithSecretSchema = tokenViewSchema
  .extend({
    secret: z.string().meta({
      description: 'The secret, which callers send. No other response shows it.',
      examples: ['gwt_3fG7…'],
    }),
  })
  .meta({ id: 'TokenWithSecret', description: 'A token and its new secret.' });

/**
 * A token as the API shows it, without its secret and the hash of it.
 *
 * @throws GatewayError resource_unreadable
 */
export function tokenView(token: Token): z.output<typeof tokenViewSchema> {
  return readStored('token', token, () => tokenViewSchema.parse(token));
}

/**
 * A token as a PATCH compares its body with it. A token may be used between GET and PATCH, so an earlier `last_used_at`
 * is not a change.
 */
export function tokenSentBack(token: Token, body: unknown): object {
  const view = tokenView(token);
  const given = (body as { last_used_at?: unknown } | null | undefined)?.last_used_at;
  const isEarlier =
    given === null ||
    (typeof given === 'string' && Date.parse(given) <= Number(token.last_used_at ?? NaN));
  return isEarlier ? { ...view, last_used_at: given } : view;
}

/** The schema of `callerView`. */
export const callerViewSchema = tokenViewSchema
  .extend({
    effective_scopes: z.array(z.string()).meta({
      description: 'Its scopes and those that they contain. `*`: all.',
      examples: [['config:write', 'config:read', 'audit:read']],
    }),
    secret_expires_at: timeView.nullable().meta({
      description:
        'When the secret of this call ends: at the end of the grace period if it was rotated, or with the token. null: never.',
      examples: [null],
    }),
  })
  .meta({ id: 'Caller', description: 'The token of the call.' });

/** The token of a call, with what its rights amount to. */
export function callerView(
  token: Token,
  secretExpiresAt: Date | null,
): z.output<typeof callerViewSchema> {
  return readStored('token', token, () =>
    callerViewSchema.parse({
      ...token,
      effective_scopes: withContainedScopes(token.scopes),
      secret_expires_at: secretExpiresAt,
    }),
  );
}

const auditedTokenSchema = tokenViewSchema.omit({ last_used_at: true });

/** A token as audit events show it: without its last use, which is not a setting. */
export function auditedToken(token: Token): object {
  return auditedOr(token, () => auditedTokenSchema.parse(tokenView(token)));
}
