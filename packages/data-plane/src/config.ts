import { Resolver } from 'node:dns';
import { hostname } from 'node:os';
import {
  addressRangesVariable,
  environmentNameVariable,
  integerVariable,
  listVariable,
  logLevelVariable,
  parseEnvironment,
  portVariable,
} from '@gateway/shared/config/environment';
import { masterKeysVariable } from '@gateway/shared/config/master-keys';
import { natsUrlVariable } from '@gateway/shared/messaging/nats-url';
import { otlpVariables } from '@gateway/shared/opentelemetry/otlp-variables';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { DEFAULT_UPSTREAM_DENY_CIDRS } from '@gateway/shared/net/upstream-addresses';
import type { ProcessIdentity } from '@gateway/shared/telemetry/process-identity';
import { requireBothTlsFiles, tlsVariables } from '@gateway/shared/tls/tls-variables';
import { z } from 'zod';

const MIB = 1024 * 1024;
const MAX_WORKERS = 64;
/** Time after the drain to flush records and close connections; then a stop is abandoned, ms. */
export const STOP_MARGIN_MS = 8_000;
/** The suffix that a worker's id adds to its group's: a dot and two digits. */
const MAX_WORKER_ID_CHARS = 3;
const MAX_ID_CHARS = 64;

/** Addresses, each with an optional port; IPv6 with a port in brackets. */
const nameServersVariable = listVariable.transform((servers, context) => {
  try {
    new Resolver().setServers(servers);
    return servers;
  } catch {
    context.addIssue({ code: 'custom', message: 'must be addresses, each with a port or without' });
    return z.NEVER;
  }
});

/** Every setting of a data plane. docs/run/settings.md lists them. */
export const variables = z.object({
  GATEWAY_HOST: z.string().default('0.0.0.0'),
  GATEWAY_PORT: portVariable.default(8080),
  DATA_PLANE_ADMIN_HOST: z.string().default('0.0.0.0'),
  DATA_PLANE_ADMIN_PORT: portVariable.default(9090),
  DATA_PLANE_ID: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 of A-Z, a-z, 0-9, dot, dash and underscore')
    .default(
      hostname()
        .replace(/[^A-Za-z0-9._-]/g, '-')
        .slice(0, 64) || 'data-plane',
    ),
  WORKERS: integerVariable(1, MAX_WORKERS).default(1),
  WORKER_HANG_TIMEOUT_MS: integerVariable(1000, 86_400_000).default(30_000),
  DATA_PLANE_DATA_DIR: z.string().default('.gateway/data-plane'),
  NATS_URL: natsUrlVariable.default('nats://127.0.0.1:4222'),
  CONTROL_PLANE_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional(),
  GATEWAY_MASTER_KEYS: masterKeysVariable,
  REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,63}$/, 'must be a name of a-z, 0-9 and -')
    .default('local'),
  DEFAULT_ENVIRONMENT: environmentNameVariable.default('production'),
  TRUSTED_PROXIES: addressRangesVariable.default(parseAddressRanges([])),
  UPSTREAM_DENY_CIDRS: addressRangesVariable.default(
    parseAddressRanges(DEFAULT_UPSTREAM_DENY_CIDRS),
  ),
  AUTH_FAILURE_LIMIT: integerVariable(1, 1_000_000).default(600),
  PREFLIGHT_LIMIT: integerVariable(1, 1_000_000).default(6_000),
  MAX_IN_FLIGHT_REQUESTS: integerVariable(1, 1_000_000).default(10_000),
  MAX_WEBSOCKETS: integerVariable(1, 1_000_000).default(10_000),
  MAX_PASS_THROUGH_REQUESTS: integerVariable(1, 1_000_000).default(1_000),
  MAX_UNAUTHENTICATED_REQUESTS: integerVariable(1, 1_000_000).default(2_000),
  MAX_CONNECTIONS: integerVariable(1, 1_000_000).default(20_000),
  MAX_CONNECTIONS_PER_ADDRESS: integerVariable(1, 1_000_000).default(12_000),
  MAX_UPSTREAM_CONNECTIONS: integerVariable(1, 65_535).default(512),
  MAX_PARALLEL_HEALTH_CHECKS: integerVariable(1, 1000).default(32),
  MAX_HEADER_BYTES: integerVariable(1024, MIB).default(32 * 1024),
  MAX_HEADER_LINES: integerVariable(16, 65_535).default(128),
  MAX_RETRY_BODY_BYTES: integerVariable(0, 64 * MIB).default(MIB),
  MAX_IDEMPOTENT_BODY_BYTES: integerVariable(0, 64 * MIB).default(10 * MIB),
  MAX_IDEMPOTENT_WAITERS: integerVariable(0, 1_000_000).default(1_000),
  MAX_KEPT_BODY_BYTES: integerVariable(0, 16 * 1024 * MIB).default(128 * MIB),
  MAX_MIRRORED_REQUESTS: integerVariable(0, 1_000_000).default(1_000),
  MAX_MIRRORED_BODY_BYTES: integerVariable(0, 16 * 1024 * MIB).default(16 * MIB),
  MAX_RECORD_MEMORY_BYTES: integerVariable(64 * 1024, 16 * 1024 * MIB).default(32 * MIB),
  MAX_RECORD_SPOOL_BYTES: integerVariable(0, 1024 * 1024 * MIB).default(1024 * MIB),
  CONNECT_TIMEOUT_MS: integerVariable(1, 60_000).default(2_000),
  DNS_SERVERS: nameServersVariable.default([]),
  DNS_STALE_MS: integerVariable(0, 86_400_000).default(300_000),
  UPSTREAM_CONNECTION_MAX_AGE_MS: integerVariable(1, 86_400_000).default(30_000),
  HEADERS_TIMEOUT_MS: integerVariable(1, 600_000).default(15_000),
  KEEP_ALIVE_TIMEOUT_MS: integerVariable(1, 3_600_000).default(75_000),
  BODY_IDLE_TIMEOUT_MS: integerVariable(1, 3_600_000).default(60_000),
  LINGER_TIMEOUT_MS: integerVariable(1, 600_000).default(30_000),
  WEBSOCKET_IDLE_TIMEOUT_MS: integerVariable(1, 86_400_000).default(3_600_000),
  DRAIN_GRACE_MS: integerVariable(0, 60_000).default(500),
  DRAIN_TIMEOUT_MS: integerVariable(0, 600_000).default(20_000),
  HTTP2_MAX_CONCURRENT_STREAMS: integerVariable(1, 100_000).default(100),
  HTTP2_MAX_RESETS_PER_MINUTE: integerVariable(1, 1_000_000).default(600),
  HTTP2_MAX_WINDOW_BYTES: integerVariable(0, 16 * 1024 * MIB).default(64 * MIB),
  HTTP2_CLEARTEXT: z.enum(['on', 'off'], 'must be on or off').default('off'),
  ...tlsVariables,
  TLS_CERT_DIR: z.string().optional(),
  ...otlpVariables,
  ACCESS_LOG: z.enum(['on', 'off'], 'must be on or off').default('on'),
  LOG_LEVEL: logLevelVariable.default('info'),
});

const schema = variables.superRefine(requireBothTlsFiles).superRefine((settings, context) => {
  const max = MAX_ID_CHARS - MAX_WORKER_ID_CHARS;
  if (settings.WORKERS === 1 || settings.DATA_PLANE_ID.length <= max) return;
  const message = `must be at most ${max} characters where there are several workers`;
  context.addIssue({ code: 'custom', path: ['DATA_PLANE_ID'], message });
});

export type Config = Readonly<z.output<typeof schema>>;

/**
 * Reads the settings of this process from its environment variables.
 *
 * @throws ConfigError with one line that names each invalid variable
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  return parseEnvironment(schema, environment);
}

/** How a data plane with these settings names itself in logs and to OpenTelemetry. */
export function identityOf({ DATA_PLANE_ID }: Pick<Config, 'DATA_PLANE_ID'>): ProcessIdentity {
  return { service: 'gateway-data-plane', instance: DATA_PLANE_ID };
}
