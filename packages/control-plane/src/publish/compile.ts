import type { Pace } from '@gateway/shared/pace';
import type { SealedSecret } from '@gateway/shared/secrets/secret-vault';
import {
  routeSchema,
  serviceSchema,
  SNAPSHOT_FORMAT,
  tokenSchema,
  type Snapshot,
  type SnapshotRoute,
  type SnapshotService,
  type SnapshotToken,
} from '@gateway/shared/snapshot/schema';
import { covers } from '@gateway/shared/tokens/scopes';
import type { ServiceTls } from '../domain/service-tls.ts';
import { servedAuth } from '../domain/route-auth.ts';
import type {
  ConfigurationRows,
  RouteRow,
  ServiceRow,
  TokenRow,
} from '../store/configuration/configuration-rows.ts';

/** A token is published until this long after its expiry, as clocks differ between machines, ms. */
const EXPIRED_TOKEN_GRACE_MS = 60 * 60 * 1000;

export interface CompileOptions {
  readonly version: number;
  /** Decides which tokens and former secrets are past; ms since the Unix epoch. */
  readonly nowMs: number;
}

/**
 * Makes of an environment's rows the text of what its data planes run: active routes, every service,
 * and the tokens that cover the environment. Everything is sorted by id, so equal rows give equal text.
 *
 * Each element has passed the schema by which data planes read it; what is not in that schema, such
 * as a token's name, never leaves the control plane.
 *
 * @param pace between elements
 * @throws ZodError where a row cannot be served, so that nothing of it is published.
 */
export async function compileSnapshot(
  rows: ConfigurationRows,
  options: CompileOptions,
  pace: Pace,
): Promise<string> {
  const { environment } = rows;
  const tokenOf = (row: TokenRow) => compileToken(row, environment, options.nowMs);
  const texts = [
    await textsOf(rows.services, compileService, pace),
    await textsOf(rows.routes, compileRoute, pace),
    await textsOf(rows.tokens, tokenOf, pace),
  ].map((elements) => elements.join(','));
  const head: Pick<Snapshot, 'format' | 'environment' | 'version'> = {
    format: SNAPSHOT_FORMAT,
    environment,
    version: options.version,
  };
  const [services, routes, tokens] = texts;
  return (
    JSON.stringify(head).slice(0, -1) +
    `,"services":[${services}],"routes":[${routes}],"tokens":[${tokens}]}`
  );
}

async function textsOf<Row extends { readonly id: string }>(
  rows: readonly Row[],
  compile: (row: Row) => object | undefined,
  pace: Pace,
): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const row of byId(rows)) {
    const turn = pace();
    if (turn !== undefined) await turn;
    const element = compile(row);
    if (element !== undefined) texts.push(JSON.stringify(element));
  }
  return texts;
}

export function compileService(row: ServiceRow): SnapshotService {
  return serviceSchema.parse(servedService(row));
}

/** undefined: nothing is served of a route that is not active. */
export function compileRoute(row: RouteRow): SnapshotRoute | undefined {
  return row.status === 'active' ? routeSchema.parse(servedRoute(row)) : undefined;
}

/** undefined: the token opens nothing in the environment. */
export function compileToken(
  row: TokenRow,
  environment: string,
  nowMs: number,
): SnapshotToken | undefined {
  if (!isServed(row, environment, nowMs)) return undefined;
  return tokenSchema.parse({ ...row, secrets: secretsOf(row, nowMs) });
}

function servedService(service: ServiceRow) {
  const { health_check: check, credential, tls, client_key, ...rest } = service;
  return {
    ...rest,
    health_check: { ...check, path: check.path ?? service.health_path },
    ...(credential !== null && { credential }),
    ...(tls !== null && { tls: servedTls(tls, client_key) }),
  };
}

function servedTls(tls: ServiceTls, key: SealedSecret | null) {
  const { ca_pem, server_name, client_certificate } = tls;
  const certificate = client_certificate && { cert_pem: client_certificate.cert_pem, key };
  return {
    ...(ca_pem !== null && { ca_pem }),
    ...(server_name !== null && { server_name }),
    ...(certificate !== null && { client_certificate: certificate }),
  };
}

/** A route that names a service has one version, which has no name. */
function servedRoute(route: RouteRow) {
  const versions = route.versions ?? [{ name: null, service_id: route.service_id, weight: 1 }];
  return { ...route, versions, auth: servedAuth(route.auth) };
}

function isServed(token: TokenRow, environment: string, nowMs: number): boolean {
  if (token.revoked || !covers(token.environments, environment)) return false;
  return token.expires_at_ms === null || token.expires_at_ms + EXPIRED_TOKEN_GRACE_MS > nowMs;
}

/** The newest secret, then the rotated one while its grace lasts, which never outlives the token. */
function secretsOf(token: TokenRow, nowMs: number) {
  const secrets = [{ sha256: token.secret_sha256, expires_at_ms: token.expires_at_ms }];
  const { previous_sha256: sha256, previous_expires_at_ms: graceEndMs } = token;
  if (sha256 !== null && graceEndMs !== null && graceEndMs > nowMs) {
    const expiresAtMs = Math.min(graceEndMs, token.expires_at_ms ?? Infinity);
    secrets.push({ sha256, expires_at_ms: expiresAtMs });
  }
  return secrets;
}

/** Code-unit order: the same on every machine, whatever its locale. */
export function byId<T extends { readonly id: string }>(rows: readonly T[]): readonly T[] {
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}
