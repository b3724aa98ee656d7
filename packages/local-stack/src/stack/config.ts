import path from 'node:path';
import {
  environmentNameVariable,
  integerVariable,
  logLevelVariable,
  parseEnvironment,
} from '@gateway/shared/config/environment';
import { METADATA_CIDRS } from '@gateway/shared/net/upstream-addresses';
import { z } from 'zod';

/** Data planes count up from their first port, so it must leave room for all of them. */
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

/** Distance between the ports of two data planes. */
const portStep = 10;

export interface DataPlanePorts {
  readonly name: string;
  readonly port: number;
  readonly adminPort: number;
}

/** The settings of the local stack. docs/run/settings.md lists the variables. */
export interface StackConfig {
  /** Absolute path. */
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
 * Parses the environment variables of the local stack.
 *
 * @param folder that a relative GATEWAY_DATA_DIR is resolved against
 * @throws {ConfigError} that names every invalid variable
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
