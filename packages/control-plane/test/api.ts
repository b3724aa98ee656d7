import { randomBytes } from 'node:crypto';
import { systemClock, type Clock } from '@gateway/shared/clock';
import type { MasterKey } from '@gateway/shared/config/master-keys';
import { createTestDatabase } from '@gateway/testing/test-database';
import { createIdFactory, systemRandom } from '@gateway/shared/ids';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { SecretVault } from '@gateway/shared/secrets/secret-vault';
import { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { manualClock, type ManualClock } from '@gateway/shared/test/manual-clock';
import { createTokenSecret, hashTokenSecretBytes } from '@gateway/shared/tokens/secret';
import { Registry } from 'prom-client';
import { ownOrigin } from '../src/changes/store/change-origin.ts';
import type { ServicesByStatus } from '../src/services/service-health-filter.ts';
import type { ServiceStatus } from '../src/services/service.ts';
import type { ResolveName } from '../src/hosts/resolve-names.ts';
import { createApp } from '../src/http/app.ts';
import { createAuthenticator } from '../src/http/authenticate.ts';
import { createHttpMetrics } from '../src/http/metrics.ts';
import { startServer } from '../src/http/server.ts';
import type { AskDataPlane } from '../src/data-planes/ask-data-planes.ts';
import type { LinkSettings } from '../src/links/links.ts';
import { createConsoleSend } from '../src/console-send.ts';
import { managementEndpoints } from '../src/endpoints.ts';
import { startTokenUses } from '../src/access/token-uses.ts';
import { DataPlanes } from '../src/data-planes/data-planes.ts';
import { RolloutWaits } from '../src/data-planes/rollout-waits.ts';
import { createWaitMetrics } from '../src/data-planes/wait-metrics.ts';
import { ensureAdminToken } from '../src/tokens/store/admin-token.ts';
import { openDatabase, type Database } from '../src/store/database.ts';
import { ensureEnvironments } from '../src/environments/store/environments.ts';
import {
  readPublicationTargets,
  readPublishedTargets,
} from '../src/publish/store/publication-targets.ts';
import { markPublished } from '../src/publish/store/publications.ts';
import { readChangedRows } from '../src/configuration/store/changed-rows.ts';

/** A response of the API. The type of its JSON is loose; tests check what they expect. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: { data?: Fields & Fields[]; error?: Fields; next_cursor?: string | null };
}

export type Fields = Record<string, unknown> & { id: string; secret: string };

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Undefined: the admin token; null: no token. */
  readonly token?: string | null;
  readonly signal?: AbortSignal;
}

export interface TestApi {
  readonly url: string;
  readonly port: number;
  readonly db: Database;
  /** The URL of the database itself, without `databaseVia`. */
  readonly databaseUrl: string;
  readonly clock: ManualClock;
  readonly registry: Registry;
  readonly adminToken: string;
  /** Empty until a test adds some. */
  readonly dataPlanes: DataPlanes;
  /** Marks the pending changes of an environment as published. Returns the version. */
  publish(environment: string): Promise<number>;
  /** Sends a request as it is, without the client of the API: these tests are about the responses on the wire. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Creates a token and returns its secret. */
  makeToken(body: object): Promise<string>;
  close(): Promise<void>;
}

export interface TestApiOptions {
  readonly authFailureLimit?: number;
  readonly managementRateLimit?: number;
  readonly trustedProxies?: readonly string[];
  readonly deniedUpstreams?: readonly string[];
  readonly reservedHosts?: readonly string[];
  readonly links?: LinkSettings;
  /** Default: no name has an address. */
  readonly resolveName?: ResolveName;
  /** Default: a new key. */
  readonly masterKeys?: readonly MasterKey[];
  /** The health of a service as data planes report it. Default: unknown. */
  readonly statusOf?: (serviceId: string) => ServiceStatus;
  readonly servicesByStatus?: () => ServicesByStatus;
  /** Answers questions to data planes. Default: none listens. */
  readonly ask?: AskDataPlane;
  /** Where the console sends requests. Default: nowhere. */
  readonly dataPlaneUrl?: string;
  /** The folder with the built console. Default: none. */
  readonly consoleFolder?: string;
  /** The folder with the built documentation. Default: none. */
  readonly docsFolder?: string;
  /** Maps the port of Postgres to the port to connect to, for tests of an outage. */
  readonly databaseVia?: (port: number) => Promise<number>;
}

/** A stop of the server waits for calls that may be on their way. No test has any left. */
const atOnce: Clock = { ...systemClock, setTimer: (_ms, done) => systemClock.setTimer(0, done) };

const NO_SERVICES: ServicesByStatus = { healthy: [], degraded: [], unhealthy: [] };
const nobodyListens: AskDataPlane = () => Promise.resolve({ kind: 'not_listening' });

/** Starts the management API on a real socket with a database of its own. Its clock only moves if a test advances it. */
export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const { authFailureLimit = 1000, managementRateLimit = 100_000 } = options;
  const database = await createTestDatabase();
  const databaseUrl = new URL(database.url);
  const { databaseVia } = options;
  if (databaseVia) databaseUrl.port = String(await databaseVia(Number(databaseUrl.port)));
  const log = createLogger('test', 'silent');
  const opened = openDatabase({ url: databaseUrl.href, log });
  const { db } = opened;
  const clock = manualClock();
  const newId = createIdFactory(() => clock.nowMs());
  const registry = new Registry();
  const adminToken = createTokenSecret();
  await ensureEnvironments(db, ['production', 'development'], ownOrigin(newId));
  const sha256 = hashTokenSecretBytes(adminToken);
  await ensureAdminToken(
    db,
    { id: newId('tok'), sha256, now: new Date(clock.nowMs()) },
    ownOrigin(newId),
  );
  const tokenUses = startTokenUses({ db, clock, registry, log });
  const parts = { db, clock, newId };
  const masterKeys = options.masterKeys ?? [{ id: 'k1', bytes: randomBytes(32) }];
  const credentials = new CredentialVault(masterKeys, systemRandom);
  const { statusOf = () => 'unknown', servicesByStatus = () => NO_SERVICES } = options;
  const denied = parseAddressRanges(options.deniedUpstreams ?? ['169.254.0.0/16']);
  const { resolveName = () => Promise.resolve([]) } = options;
  const hosts = { denied, resolveName, reserved: options.reservedHosts ?? [] };
  const metrics = createHttpMetrics(registry);
  const dataPlanes = new DataPlanes();
  dataPlanes.restored();
  const waits = new RolloutWaits({
    dataPlanes,
    clock,
    log,
    metrics: createWaitMetrics(registry),
    isConnected: () => true,
    readTargets: (environments) => readPublicationTargets(db, environments),
    readPublished: (targets) => readPublishedTargets(db, targets),
  });
  const idempotencyKeys = {
    db,
    vault: new SecretVault(masterKeys, 'idempotent-responses', systemRandom),
    nowMs: () => clock.nowMs(),
  };
  const app = createApp({
    db,
    consoleFolder: options.consoleFolder ?? '/nowhere',
    docsFolder: options.docsFolder ?? '/nowhere',
    idempotencyKeys,
    clock,
    newId,
    log,
    metrics,
    waits,
    sending: createConsoleSend(
      options.dataPlaneUrl === undefined ? undefined : new URL(options.dataPlaneUrl),
      registry,
      { ...parts, waits },
    ),
    trustedProxies: parseAddressRanges(options.trustedProxies ?? []),
    authenticator: createAuthenticator({
      db,
      clock,
      authFailureLimit,
      managementRateLimit,
      tokenUses,
    }),
    endpoints: managementEndpoints({
      ...parts,
      hosts,
      credentials,
      masterKeys,
      links: options.links ?? {},
      dataPlanes,
      ask: options.ask ?? nobodyListens,
      statusOf,
      servicesByStatus,
    }),
  });
  const server = await startServer(app, {
    host: '127.0.0.1',
    port: 0,
    clock: atOnce,
    log,
    newId,
    authFailureLimit,
    metrics,
  });
  const url = `http://127.0.0.1:${server.port}`;

  async function call(method: string, path: string, given: CallOptions = {}): Promise<Answer> {
    const { body, token = adminToken } = given;
    const response = await fetch(url + path, {
      method,
      ...(given.signal && { signal: given.signal }),
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...given.headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = (text === '' ? {} : JSON.parse(text)) as Answer['json'];
    return { status: response.status, headers: response.headers, text, json };
  }

  return {
    url,
    port: server.port,
    db,
    databaseUrl: database.url,
    clock,
    registry,
    adminToken,
    dataPlanes,
    call,
    async publish(environment) {
      const changes = await readChangedRows(db, environment, 0);
      const version = (changes?.configVersion ?? 0) + 1;
      const why = 'changed';
      const ids = changes?.pending.map(({ id }) => id) ?? [];
      await markPublished(db, environment, { version, why }, ids);
      waits.published();
      return version;
    },
    async makeToken(body) {
      const { status, json, text } = await call('POST', '/v1/tokens', { body });
      if (status !== 201 || json.data === undefined) throw new Error(text);
      return json.data.secret;
    },
    async close() {
      waits.stop();
      await server.close();
      await tokenUses.stop();
      await opened.close();
      await database.drop();
    },
  };
}
