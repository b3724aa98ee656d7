import type { SealedSecret } from '@gateway/shared/secrets/secret-vault';
import type {
  CredentialVault,
  UpstreamCredential,
} from '@gateway/shared/secrets/upstream-credential';
import { z } from 'zod';
import { objectField, textField } from './fields.ts';

const MAX_VALUE_CHARS = 8192;
const MAX_NAME_CHARS = 128;
const MAX_USERNAME_CHARS = 255;
const MAX_PASSWORD_CHARS = 1024;

const CREDENTIAL_TYPES = ['bearer', 'basic', 'header'] as const;

/**
 * Fields that the gateway or the protocol sets: hop-by-hop fields (RFC 9110 section 7.6.1), the framing
 * (RFC 9112 section 6), and what the gateway says of the request. A credential must not stand in their
 * place. Names count as the same with underscores, as some upstreams cannot tell them apart.
 */
const RESERVED = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings'],
  ...['content-length', 'content-type', 'content-encoding', 'content-range', 'expect', 'host'],
  ...['via', 'forwarded', 'traceparent', 'tracestate', 'x-request-id', 'max-forwards'],
  ...['idempotency-key', 'date'],
]);
const RESERVED_PREFIXES = ['x-gateway-', 'x-forwarded-', 'sec-websocket-'];

function isReserved(name: string): boolean {
  const dashed = name.toLowerCase().replaceAll('_', '-');
  return RESERVED.has(dashed) || RESERVED_PREFIXES.some((prefix) => dashed.startsWith(prefix));
}

const headerNameField = textField(
  new RegExp(`^[A-Za-z0-9!#$%&'*+.^_\`|~-]{1,${MAX_NAME_CHARS}}$`),
  `must be the name of a header, 1 to ${MAX_NAME_CHARS} characters (RFC 9110 section 5.1)`,
).refine((name) => !isReserved(name), {
  error: 'must not be a header that the gateway or HTTP itself sets',
});

/** RFC 9110 section 5.5 without what is obsolete: no control character, so no line can be ended. */
const headerValueField = textField(
  new RegExp(`^(?=.{1,${MAX_VALUE_CHARS}}$)[!-~]([ -~\\t]*[!-~])?$`),
  `must be 1 to ${MAX_VALUE_CHARS} characters of ASCII, without control characters and without space at its ends`,
);

/** More than RFC 6750 section 2.1 has, as issuers go beyond it. */
const bearerTokenField = textField(
  new RegExp(`^[!-~]{1,${MAX_VALUE_CHARS}}$`),
  `must be 1 to ${MAX_VALUE_CHARS} visible characters of ASCII, without space`,
);

/** RFC 7617 section 2: no control characters, and a user id has no colon. Half a surrogate pair is no text. */
const usernameField = textField(
  new RegExp(`^[^:\\p{Cc}\\p{Cs}]{0,${MAX_USERNAME_CHARS}}$`, 'u'),
  `must be at most ${MAX_USERNAME_CHARS} characters, without a colon and without control characters`,
);
const passwordField = textField(
  new RegExp(`^[^\\p{Cc}\\p{Cs}]{0,${MAX_PASSWORD_CHARS}}$`, 'u'),
  `must be at most ${MAX_PASSWORD_CHARS} characters, without control characters`,
);

/**
 * What the upstreams of a service are sent so that they let the gateway in (DESIGN section 2
 * "Service"). No message of it holds anything of what was given.
 */
export const credentialField = z
  .discriminatedUnion(
    'type',
    [
      objectField({ type: z.literal('bearer'), token: bearerTokenField }),
      objectField({
        type: z.literal('basic'),
        username: usernameField,
        password: passwordField,
      }).refine(({ username, password }) => username !== '' || password !== '', {
        path: ['username'],
        error: 'must not be empty where the password is',
      }),
      objectField({ type: z.literal('header'), name: headerNameField, value: headerValueField }),
    ],
    {
      error: ({ input }) =>
        typeof input !== 'object' || input === null
          ? 'must be an object or null'
          : `must be one of ${CREDENTIAL_TYPES.join(', ')}`,
    },
  )
  .nullable()
  .meta({ writeOnly: true, description: 'null removes it. Never shown again.' });

export type CredentialInput = NonNullable<z.output<typeof credentialField>>;

/** A credential as it is stored: what it is, and the sealed header field. */
export interface StoredCredential extends SealedSecret {
  readonly type: CredentialInput['type'];
  /** In lower case. */
  readonly header: string;
  /** RFC 3339. */
  readonly set_at: string;
}

/** The one header field that a credential comes to. */
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

/** Seals what was given for this service; from here on nothing of the control plane can be asked for it. */
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
 * The same credential under the newest master key. It is not set anew by this: `set_at` stays.
 *
 * @throws SecretUnreadableError
 */
export function resealCredential(
  vault: CredentialVault,
  stored: StoredCredential,
  serviceId: string,
): StoredCredential {
  return { ...stored, ...vault.seal(vault.open(stored, serviceId), serviceId) };
}
