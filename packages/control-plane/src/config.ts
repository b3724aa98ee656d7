import {
  addressRangesVariable,
  environmentNameVariable,
  integerVariable,
  logLevelVariable,
  parseEnvironment,
  portVariable,
} from '@gateway/shared/config/environment';
import { masterKeysVariable } from '@gateway/shared/config/master-keys';
import { natsUrlVariable } from '@gateway/shared/messaging/nats-url';
import { otlpVariables } from '@gateway/shared/opentelemetry/otlp-variables';
import { reservedHostsVariable } from '@gateway/shared/definitions/reserved-hosts';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { DEFAULT_UPSTREAM_DENY_CIDRS } from '@gateway/shared/net/upstream-addresses';
import { requireBothTlsFiles, tlsVariables } from '@gateway/shared/tls/tls-variables';
import { isTokenSecret } from '@gateway/shared/tokens/secret';
import { z } from 'zod';
import { linkVariables } from './links/links.ts';
import { RECORD_DOCUMENTS } from './requests/record-document.ts';
import { DEFAULT_MAX_CONNECTIONS } from './store/database.ts';
import { databaseUrlVariable } from './store/servers/database-url.ts';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
/** Time from SIGTERM until a stop is abandoned, ms. */
export const STOP_TIMEOUT_MS = 10_000;

/** A path would stand before that of each request, and the data planes know none. */
const originVariable = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .transform((text) => new URL(text))
  .refine((url) => url.href === `${url.origin}/`, {
    error: 'must be an http or https URL without credentials, path and query',
  });

/** All settings of a control plane. */
export const variables = z.object({
  CONTROL_PLANE_HOST: z.string().default('0.0.0.0'),
  CONTROL_PLANE_PORT: portVariable.default(8081),
  CONTROL_PLANE_ADMIN_HOST: z.string().default('0.0.0.0'),
  CONTROL_PLANE_ADMIN_PORT: portVariable.default(9081),
  DATABASE_URL: databaseUrlVariable.default('postgres://127.0.0.1:5432/gateway'),
  /** For what a pooler cannot carry: migrations, notifications, locks of a session. */
  DATABASE_DIRECT_URL: databaseUrlVariable.optional(),
  /** Size of the pool; two more connections are outside of it. Use at least 13: background work takes up to 12. */
  DATABASE_MAX_CONNECTIONS: integerVariable(2, 1000).default(DEFAULT_MAX_CONNECTIONS),
  NATS_URL: natsUrlVariable.default('nats://127.0.0.1:4222'),
  /** Replicas of each stream and bucket that this process creates: 3 in a cluster of NATS servers. */
  NATS_REPLICAS: integerVariable(1, 5).default(1),
  RECORD_STREAM_MAX_BYTES: integerVariable(1024 ** 2, 1024 * GIB).default(GIB),
  RECORD_ACK_WAIT_MS: integerVariable(1000, 3_600_000).default(3000),
  /** The previous release cannot read compact documents. */
  RECORD_DOCUMENTS: z.enum(RECORD_DOCUMENTS, 'must be named or compact').default('named'),
  QUOTA_MAX_BYTES: integerVariable(1024 ** 2, 1024 * GIB).default(256 * MIB),
  IDEMPOTENCY_MAX_BYTES: integerVariable(1024 ** 2, 1024 * GIB).default(4 * GIB),
  GATEWAY_MASTER_KEYS: masterKeysVariable,
  GATEWAY_ADMIN_TOKEN: z
    .string()
    .refine(isTokenSecret, 'must be gwt_ and 43 characters of base64url')
    .optional(),
  DEFAULT_ENVIRONMENT: environmentNameVariable.default('production'),
  TRUSTED_PROXIES: addressRangesVariable.default(parseAddressRanges([])),
  UPSTREAM_DENY_CIDRS: addressRangesVariable.default(
    parseAddressRanges(DEFAULT_UPSTREAM_DENY_CIDRS),
  ),
  /** The hosts under which operators reach the console and the management API. No route gets them. */
  RESERVED_HOSTS: reservedHostsVariable.default([]),
  /** Where the console sends requests: a data plane, or what stands before several. */
  DATA_PLANE_URL: originVariable.optional(),
  AUTH_FAILURE_LIMIT: integerVariable(1, 1_000_000).default(600),
  /** How long the versions of a configuration can be listed, compared and rolled back to. */
  CONFIG_HISTORY_DAYS: integerVariable(1, 3650).default(90),
  MANAGEMENT_RATE_LIMIT: integerVariable(1, 1_000_000).default(6000),
  ...linkVariables,
  ...tlsVariables,
  ...otlpVariables,
  LOG_LEVEL: logLevelVariable.default('info'),
});

const schema = variables.superRefine(requireBothTlsFiles);

export type Config = Readonly<z.output<typeof schema>>;

/**
 * The settings of this process, from its environment variables.
 *
 * @throws ConfigError of one line that names each invalid variable
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  return parseEnvironment(schema, environment);
}

/** The database for connections that need a session of their own. */
export function directUrl(config: Config): string {
  return config.DATABASE_DIRECT_URL ?? config.DATABASE_URL;
}
