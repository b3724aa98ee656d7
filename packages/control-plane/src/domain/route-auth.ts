import type { AddressRanges } from '@gateway/shared/net/upstream-addresses';
import type { SnapshotAuth } from '@gateway/shared/snapshot/schema';
import { JWT_ALGORITHMS } from '@gateway/shared/tokens/jwt-algorithms';
import { z } from 'zod';
import { listField, objectField } from './fields.ts';
import { sourceUrlField } from './url-field.ts';

const MAX_ISSUER_CHARS = 2048;
const MAX_AUDIENCES = 16;
const MAX_CLAIMS = 16;
const MAX_CLAIM_VALUES = 32;
const MAX_CLAIM_CHARS = 256;

const AUTH_TYPES = ['token', 'api_key', 'jwt', 'none'];

function boundedText(maxChars: number) {
  const error = `must be 1 to ${maxChars} characters without control characters`;
  // Half a surrogate pair is no text to Postgres.
  const pattern = /^[^\p{Cc}\p{Cs}]+$/u;
  return z.string({ error: 'must be a text' }).max(maxChars, { error }).regex(pattern, { error });
}

const algorithmField = z.enum(JWT_ALGORITHMS, {
  error: ({ input }) => {
    if (input === 'none') return 'must not be none, as such a token is not signed';
    if (typeof input === 'string' && /^HS\d+$/.test(input)) {
      return `must not be ${input}, as whoever can check such a signature can make it`;
    }
    return `must be one of ${JWT_ALGORITHMS.join(', ')}`;
  },
});

const audienceField = z.union(
  [
    boundedText(MAX_CLAIM_CHARS),
    listField(boundedText(MAX_CLAIM_CHARS), { min: 1, max: MAX_AUDIENCES }),
  ],
  { error: `must be a text or a list of 1 to ${MAX_AUDIENCES} texts` },
);

const claimValueField = z.union([boundedText(MAX_CLAIM_CHARS), z.number(), z.boolean()], {
  error: 'must be a text, a number, true or false',
});

const claimValuesError = `must be a text, a number, true or false, or a list of 1 to ${MAX_CLAIM_VALUES} of these`;

const claimValuesField = z.union(
  [
    claimValueField,
    z
      .array(claimValueField)
      .min(1, { error: claimValuesError })
      .max(MAX_CLAIM_VALUES, { error: claimValuesError }),
  ],
  { error: claimValuesError },
);

const claimsError = `must be an object of at most ${MAX_CLAIMS} claims and the values that each may have, or a list of their names`;

const claimsField = z
  .preprocess(
    (input, context) => {
      // A record leaves this name out in silence, and the claim would then not be required.
      if (typeof input === 'object' && input !== null && Object.hasOwn(input, '__proto__')) {
        context.addIssue({ code: 'custom', message: 'must not name a claim __proto__' });
      }
      return input;
    },
    z.union(
      [
        listField(boundedText(MAX_CLAIM_CHARS), { min: 0, max: MAX_CLAIMS }),
        z
          .record(boundedText(MAX_CLAIM_CHARS), claimValuesField)
          .refine((claims) => Object.keys(claims).length <= MAX_CLAIMS, { error: claimsError }),
      ],
      { error: claimsError },
    ),
  )
  .superRefine((claims, context) => {
    if (Array.isArray(claims)) return;
    for (const [name, values] of Object.entries(claims)) {
      if ([values].flat().every(isExact)) continue;
      const message = `must not be a number beyond ${Number.MAX_SAFE_INTEGER}, as its neighbours would pass for it`;
      context.addIssue({ code: 'custom', path: [name], message });
    }
  });

/** Past this several numbers are one as they are read: of two tenants each would open the other's route. */
function isExact(value: string | number | boolean): boolean {
  return typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** How the callers of a route prove who they are. Source: DESIGN section 2 "Authentication of a route". */
export function authField(deny: AddressRanges) {
  return z.discriminatedUnion(
    'type',
    [
      objectField({ type: z.literal('token') }),
      objectField({ type: z.literal('api_key') }),
      objectField({ type: z.literal('none') }),
      objectField({
        type: z.literal('jwt'),
        issuer: boundedText(MAX_ISSUER_CHARS),
        /** The token must be meant for one of these. */
        audience: audienceField,
        jwks_url: sourceUrlField(deny),
        algorithms: listField(algorithmField, { min: 1, max: JWT_ALGORITHMS.length }).default([
          'RS256',
          'ES256',
        ]),
        /** A claim of which the name alone is given must be there, whatever it holds. */
        required_claims: claimsField.default({}),
      }),
    ],
    {
      error: ({ input }) =>
        typeof input !== 'object' || input === null || Array.isArray(input)
          ? 'must be an object'
          : `must be one of ${AUTH_TYPES.join(', ')}`,
    },
  );
}

export type RouteAuth = Readonly<z.output<ReturnType<typeof authField>>>;

/** The fields in the order of the documentation: Postgres keeps those of an object in one of its own. */
export function authView(auth: RouteAuth): RouteAuth {
  if (auth.type !== 'jwt') return { type: auth.type };
  const { type, issuer, audience, jwks_url, algorithms, required_claims } = auth;
  return { type, issuer, audience, jwks_url, algorithms, required_claims };
}

/** What data planes get: one form of what may be written in several. */
export function servedAuth(auth: RouteAuth): SnapshotAuth {
  if (auth.type !== 'jwt') return auth;
  const { audience, required_claims: claims } = auth;
  return {
    ...auth,
    audience: typeof audience === 'string' ? [audience] : audience,
    required_claims: Array.isArray(claims)
      ? claims.map((name) => ({ name, values: null }))
      : Object.entries(claims)
          .map(([name, values]) => ({ name, values: Array.isArray(values) ? values : [values] }))
          .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}
