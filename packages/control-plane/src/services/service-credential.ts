import { connectionAuthScheme } from '@gateway/shared/http/connection-auth';
import { foldedName, HOP_BY_HOP_FIELDS } from '@gateway/shared/http/headers';
import type { SealedSecret } from '@gateway/shared/secrets/secret-vault';
import type {
  CredentialVault,
  UpstreamCredential,
} from '@gateway/shared/secrets/upstream-credential';
import { z } from 'zod';
import { objectField, stringField } from '@gateway/shared/definitions/fields';
import { timeField } from '../fields/response-fields.ts';
import { isReference } from '../fields/reference.ts';

const MAX_VALUE_CHARS = 8192;
const MAX_NAME_CHARS = 128;
const MAX_USERNAME_CHARS = 255;
const MAX_PASSWORD_CHARS = 1024;

const CREDENTIAL_TYPES = ['bearer', 'basic', 'header'] as const;

/**
 * Headers that the gateway or HTTP sets: hop-by-hop headers (RFC 9110 section 7.6.1), framing (RFC 9112
 * section 6), and those in which the gateway describes the request. A credential must not replace them.
 * Names are compared folded, because some upstreams treat them as equal.
 */
const RESERVED = new Set([
  ...HOP_BY_HOP_FIELDS,
  'proxy-authorization',
  'http2-settings',
  'content-length',
  'content-type',
  'content-encoding',
  'content-range',
  'expect',
  'host',
  'via',
  'cdn-loop',
  'forwarded',
  'traceparent',
  'tracestate',
  'x-request-id',
  'max-forwards',
  'idempotency-key',
  'date',
]);
const RESERVED_PREFIXES = ['x-gateway-', 'x-forwarded-', 'sec-websocket-'];

function isReserved(name: string): boolean {
  const dashed = foldedName(name);
  return RESERVED.has(dashed) || RESERVED_PREFIXES.some((prefix) => dashed.startsWith(prefix));
}

/** An apply takes references out before it validates. Elsewhere the text of one would be sent to upstreams. */
function secretField(field: z.ZodString) {
  return field.refine((text) => !isReference(text), {
    error: 'must be the secret itself: only an apply takes a reference to a variable',
  });
}

const headerNameField = stringField(
  new RegExp(`^[A-Za-z0-9!#$%&'*+.^_\`|~-]{1,${MAX_NAME_CHARS}}$`),
  `must be the name of a header, 1 to ${MAX_NAME_CHARS} characters (RFC 9110 section 5.1)`,
).refine((name) => !isReserved(name), {
  error: 'must not be a header that the gateway or HTTP itself sets',
});

/** RFC 9110 section 5.5 without the obsolete forms: no control character can end the line. */
const headerValueField = stringField(
  new RegExp(`^(?=.{1,${MAX_VALUE_CHARS}}$)[!-~]([ -~\\t]*[!-~])?$`),
  `must be 1 to ${MAX_VALUE_CHARS} characters of ASCII, without control characters, and without space at either end`,
);

/** Wider than RFC 6750 section 2.1, because issuers use more characters than it allows. */
const bearerTokenField = stringField(
  new RegExp(`^[!-~]{1,${MAX_VALUE_CHARS}}$`),
  `must be 1 to ${MAX_VALUE_CHARS} visible characters of ASCII, without space`,
);

/** RFC 7617 section 2: no control characters, and no colon in the user id. UTF-8 has no lone surrogates. */
const usernameField = stringField(
  new RegExp(`^[^:\\p{Cc}\\p{Cs}]{0,${MAX_USERNAME_CHARS}}$`, 'u'),
  `must be at most ${MAX_USERNAME_CHARS} characters, without a colon and without control characters`,
);
const passwordField = stringField(
  new RegExp(`^[^\\p{Cc}\\p{Cs}]{0,${MAX_PASSWORD_CHARS}}$`, 'u'),
  `must be at most ${MAX_PASSWORD_CHARS} characters, without control characters`,
);

/**
 * The credential that the gateway sends to the upstreams of a service. No error message repeats any part
 * of what the caller sent.
 */
export const credentialField = z
  .discriminatedUnion(
    'type',
    [
      objectField({
        type: z.literal('bearer').meta({ description: 'Sends `Authorization: Bearer`.' }),
        token: secretField(bearerTokenField).meta({
          title: 'Bearer token',
          description: 'The token to send.',
          examples: ['sk_live_4eC39H'],
        }),
      }),
      objectField({
        type: z.literal('basic').meta({ description: 'Sends `Authorization: Basic`.' }),
        username: secretField(usernameField).meta({
          title: 'User name',
          description: 'The user name.',
          examples: ['gateway'],
        }),
        password: secretField(passwordField).meta({
          title: 'Password',
          description: 'The password.',
          examples: ['s3cret'],
        }),
      }).refine(({ username, password }) => username !== '' || password !== '', {
        path: ['username'],
        error: 'must not be empty if the password is empty',
      }),
      objectField({
        type: z.literal('header').meta({ description: 'Sends a header of any name.' }),
        name: headerNameField.meta({
          title: 'Name of the header',
          description: 'The name of the header.',
          examples: ['X-API-Key'],
        }),
        value: secretField(headerValueField).meta({
          title: 'Value of the header',
          description:
            'The value to send. In Authorization its scheme must not be one that authenticates a connection, such as Negotiate or NTLM.',
          examples: ['k-4eC39H'],
        }),
      }).superRefine(({ name, value }, context) => {
        const scheme =
          name.toLowerCase() === 'authorization' ? connectionAuthScheme(value) : undefined;
        if (scheme === undefined) return;
        context.addIssue({
          code: 'custom',
          path: ['value'],
          message: `must not use ${scheme}, which authenticates a connection: the callers of the service share its connections`,
        });
      }),
    ],
    {
      error: ({ input }) =>
        typeof input !== 'object' || input === null
          ? 'must be an object or null'
          : `must be one of ${CREDENTIAL_TYPES.join(', ')}`,
    },
  )
  .nullable()
  .meta({
    writeOnly: true,
    title: 'Credential',
    description:
      'What the gateway sends to authenticate at upstreams. It is stored encrypted, and no response shows it. null removes it.',
    examples: [{ type: 'bearer', token: 'sk_live_4eC39H' }],
  });

export type CredentialInput = NonNullable<z.output<typeof credentialField>>;

/** A credential as the API shows it, without any part of the secret. */
export const credentialViewSchema = z.object({
  type: z
    .enum(CREDENTIAL_TYPES)
    .meta({ description: 'The kind of credential.', examples: ['bearer'] }),
  header: z
    .string()
    .meta({ description: 'The name of the header, in lower case.', examples: ['authorization'] }),
  set_at: timeField('When the credential was set.'),
});

/** A stored credential: what the API shows, and the encrypted header field. */
export type StoredCredential = Readonly<z.output<typeof credentialViewSchema>> & SealedSecret;

/** The header field that carries the credential. */
function fieldOf(input: CredentialInput): UpstreamCredential {
  switch (input.type) {
    case 'bearer':
      return { header: 'authorization', value: `Bearer ${input.token}` };
    case 'basic': {
      const pair = Buffer.from(`${input.username}:${input.password}`, 'utf8').toString('base64');
      return { header: 'authorization', value: `Basic ${pair}` };
    }
    case 'header':
      return { header: input.name.toLowerCase(), value: input.value };
  }
}

/** Whether a credential is the stored one, whose header field was decrypted. */
export function isCredential(
  opened: UpstreamCredential,
  stored: StoredCredential,
  given: CredentialInput,
): boolean {
  const { header, value } = fieldOf(given);
  return given.type === stored.type && header === opened.header && value === opened.value;
}

/** Encrypts a credential for this service. */
export function sealCredential(
  vault: CredentialVault,
  input: CredentialInput,
  serviceId: string,
  now: Date,
): StoredCredential {
  const field = fieldOf(input);
  return {
    type: input.type,
    header: field.header,
    set_at: now.toISOString(),
    ...vault.seal(field, serviceId),
  };
}

/**
 * Encrypts the same credential with the newest master key. `set_at` stays.
 *
 * @throws SecretUnreadableError
 */
export function reencryptCredential(
  vault: CredentialVault,
  stored: StoredCredential,
  serviceId: string,
): StoredCredential {
  return { ...stored, ...vault.seal(vault.open(stored, serviceId), serviceId) };
}
