import path from 'node:path';
import {
  environmentNameVariable,
  integerVariable,
  logLevelVariable,
  parseEnvironment,
} from '@gateway/shared/config/environment';
import { METADATA_CIDRS } from '@gateway/shared/net/upstream-addresses';
import { z } from 'zod';

/** Ports that are counted up from must leave room for every data plane. */
const portVariable = integerVariable(1, 65_000);

const schema = z.object({
  GATEWAY_PORT: portVariable.default(8080),
  CONTROL_PLANE_PORT: portVariable.default(8081),
  DATA_PLANES: integerVariable(1, 16).default(1),
  WORKERS: integerVariable(1, 64).default(1),
  GATEWAY_DATA_DIR: z.string().default('.gateway'),
  GATEWAY_ADMIN_TOKEN: z
    .string()
    .regex(/^gwt_[A-Za-z0-9_-]{43}$/, 'must be gwt_ and 43 characters of base64url')
    .optional(),
  GATEWAY_MASTER_KEYS: z.string().optional(),
  DATABASE_URL: z.string().optional(),
  NATS_URL: z.string().optional(),
  REGION: z.string().default('local'),
  DEFAULT_ENVIRONMENT: environmentNameVariable.default('production'),
  DATA_PLANE_ADMIN_PORT: portVariable.default(9090),
  CONTROL_PLANE_ADMIN_PORT: portVariable.default(9081),
  UPSTREAM_DENY_CIDRS: z.string().default(METADATA_CIDRS.join(',')),
  LOG_LEVEL: logLevelVariable.default('info'),
});

/** From one data plane's ports to the next one's. */
const portStep = 10;

export interface DataPlanePorts {
  readonly name: string;
  readonly port: number;
  readonly adminPort: number;
}

/** What an operator may set for the local stack. */
export interface StackConfig {
  /** Absolute. */
  readonly dataDir: string;
  readonly controlPlanePort: number;
  readonly controlPlaneAdminPort: number;
  readonly dataPlanes: readonly DataPlanePorts[];
  /** Of each data plane. */
  readonly workers: number;
  readonly adminToken: string | undefined;
  readonly masterKeys: string | undefined;
  readonly databaseUrl: string | undefined;
  readonly natsUrl: string | undefined;
  readonly region: string;
  readonly defaultEnvironment: string;
  readonly upstreamDenyCidrs: string;
  readonly logLevel: string;
}

/**
 * Reads the environment once.
 *
 * @throws {ConfigError} that names every variable that does not hold
 */
export function parseStackConfig(environment: NodeJS.ProcessEnv, folder: string): StackConfig {
  const given = parseEnvironment(schema, environment);
  const dataPlanes = Array.from({ length: given.DATA_PLANES }, (_, index) => ({
    name: `data-plane-${index + 1}`,
    port: given.GATEWAY_PORT + index * portStep,
    adminPort: given.DATA_PLANE_ADMIN_PORT + index * portStep,
  }));
  return Object.freeze({
    dataDir: path.resolve(folder, given.GATEWAY_DATA_DIR),
    controlPlanePort: given.CONTROL_PLANE_PORT,
    controlPlaneAdminPort: given.CONTROL_PLANE_ADMIN_PORT,
    dataPlanes,
    workers: given.WORKERS,
    adminToken: given.GATEWAY_ADMIN_TOKEN,
    masterKeys: given.GATEWAY_MASTER_KEYS,
    databaseUrl: given.DATABASE_URL,
    natsUrl: given.NATS_URL,
    region: given.REGION,
    defaultEnvironment: given.DEFAULT_ENVIRONMENT,
    upstreamDenyCidrs: given.UPSTREAM_DENY_CIDRS,
    logLevel: given.LOG_LEVEL,
  });
}
