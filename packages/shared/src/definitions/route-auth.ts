import type { AddressRanges } from '../net/upstream-addresses.ts';
import { JWT_ALGORITHMS } from '../tokens/jwt-algorithms.ts';
import { z } from 'zod';
import { listField, objectField } from './fields.ts';
import { sourceUrlField } from './url-field.ts';

const MAX_ISSUER_CHARS = 2048;
const MAX_AUDIENCES = 16;
const MAX_CLAIMS = 16;
const MAX_CLAIM_VALUES = 32;
const MAX_CLAIM_CHARS = 256;

const AUTH_TYPES = ['token', 'api_key', 'jwt', 'none'];

function boundedString(maxChars: number) {
  const error = `must be 1 to ${maxChars} characters without control characters`;
  // Postgres cannot store a lone surrogate.
  const pattern = /^[^\p{Cc}\p{Cs}]+$/u;
  return z.string({ error: 'must be a string' }).max(maxChars, { error }).regex(pattern, { error });
}

const algorithmField = z.enum(JWT_ALGORITHMS, {
  error: ({ input }) => {
    if (input === 'none') return 'must not be none, as such a token is not signed';
    if (typeof input === 'string' && /^HS\d+$/.test(input)) {
      return `must not be ${input}, as anyone who can verify such a signature can also make it`;
    }
    return `must be one of ${JWT_ALGORITHMS.join(', ')}`;
  },
});

const audienceField = z.union(
  [
    boundedString(MAX_CLAIM_CHARS),
    listField(boundedString(MAX_CLAIM_CHARS), { min: 1, max: MAX_AUDIENCES }),
  ],
  { error: `must be a string or a list of 1 to ${MAX_AUDIENCES} strings` },
);

const claimValueField = z.union([boundedString(MAX_CLAIM_CHARS), z.number(), z.boolean()], {
  error: 'must be a string, a number, true or false',
});

const claimValuesError = `must be a string, a number, true or false, or a list of 1 to ${MAX_CLAIM_VALUES} of these`;

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
      // z.record silently drops this name, and the claim would then not be required.
      if (typeof input === 'object' && input !== null && Object.hasOwn(input, '__proto__')) {
        context.addIssue({ code: 'custom', message: 'must not name a claim __proto__' });
      }
      return input;
    },
    z.union(
      [
        listField(boundedString(MAX_CLAIM_CHARS), { min: 0, max: MAX_CLAIMS }),
        z
          .record(boundedString(MAX_CLAIM_CHARS), claimValuesField)
          .refine((claims) => Object.keys(claims).length <= MAX_CLAIMS, { error: claimsError }),
      ],
      { error: claimsError },
    ),
  )
  .superRefine((claims, context) => {
    if (Array.isArray(claims)) return;
    for (const [name, values] of Object.entries(claims)) {
      if ([values].flat().every(isExact)) continue;
      const message = `must not be a number beyond ${Number.MAX_SAFE_INTEGER}, because other numbers are read as the same value`;
      context.addIssue({ code: 'custom', path: [name], message });
    }
  });

/** Larger JSON numbers are read as their neighbours, so two tenants could use each other's route. */
function isExact(value: string | number | boolean): boolean {
  return typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** The authentication of a route; addresses in `deny` are refused in `jwks_url`. */
export function authField(deny: AddressRanges) {
  return z.discriminatedUnion(
    'type',
    [
      objectField({
        type: z.literal('token').meta({
          description:
            'A token with the scope `proxy`, in `Authorization: Bearer` or as the password of `Authorization: Basic`.',
        }),
      }),
      objectField({
        type: z.literal('api_key').meta({
          description: 'A token with the scope `proxy`, in `X-API-Key`.',
        }),
      }),
      objectField({ type: z.literal('none').meta({ description: 'Anybody may call the route.' }) }),
      objectField({
        type: z
          .literal('jwt')
          .meta({ description: 'A JWT of an issuer, in `Authorization: Bearer`.' }),
        issuer: boundedString(MAX_ISSUER_CHARS).meta({
          title: 'Issuer',
          description: 'The claim `iss` must have this value.',
          examples: ['https://login.example'],
        }),
        audience: audienceField.meta({
          title: 'Audiences',
          description: 'The claim `aud` must name one of these.',
          examples: ['payments'],
        }),
        jwks_url: sourceUrlField(deny).meta({
          title: 'URL of the keys',
          description: 'Where data planes fetch the keys of the issuer.',
          examples: ['https://login.example/.well-known/jwks.json'],
        }),
        algorithms: listField(algorithmField, { min: 1, max: JWT_ALGORITHMS.length })
          .default(['RS256', 'ES256'])
          .meta({
            title: 'Algorithms',
            description:
              'The signature algorithms that are accepted. `EdDSA` and `Ed25519` are two names of one algorithm: either accepts both.',
            examples: [['RS256', 'ES256']],
          }),
        required_claims: claimsField.default({}).meta({
          title: 'Required claims',
          description:
            'The claims that the JWT must have, and the values that each may have. A claim in a list of names may have any value.',
          examples: [{ role: ['admin', 'billing'] }],
        }),
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

export type RouteAuth = z.output<ReturnType<typeof authField>>;
