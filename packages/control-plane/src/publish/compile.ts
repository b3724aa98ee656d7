import type { Pace } from '@gateway/shared/pace';
import type { SealedSecret } from '@gateway/shared/secrets/secret-vault';
import {
  MAX_REASON_CHARS,
  parseElement,
  readableMatches,
  type ElementKind,
  type ParsedElement,
  type UnusableElement,
} from '@gateway/shared/snapshot/read-element';
import {
  authSchema,
  ELEMENT_FORMAT,
  SNAPSHOT_FORMAT,
  type Snapshot,
  type SnapshotRoute,
  type SnapshotService,
  type SnapshotToken,
} from '@gateway/shared/snapshot/schema';
import { withoutReserved } from '@gateway/shared/definitions/reserved-hosts';
import { covers } from '@gateway/shared/tokens/scopes';
import { z } from 'zod';
import type { ServiceTls } from '../services/service-tls.ts';
import { servedAuth } from '../routes/route-auth.ts';
import type {
  ConfigurationRows,
  RouteRow,
  ServiceRow,
  TokenRow,
} from '../configuration/store/configuration-rows.ts';

/** A token stays published this long after its expiry, because clocks differ between machines, ms. */
const EXPIRED_TOKEN_GRACE_MS = 60 * 60 * 1000;

/** How long a compilation may hold the event loop, which also serves calls of the API, ms. */
export const MAX_HOLD_MS = 5;

export interface CompileOptions {
  readonly version: number;
  /** Hosts that no route gets, also if it was stored before they were reserved. */
  readonly reservedHosts: readonly string[];
  /** Decides which tokens and rotated secrets have expired; ms since the Unix epoch. */
  readonly nowMs: number;
}

/**
 * Compiles the rows of an environment to the text of its snapshot: active routes, all services, and the
 * tokens that cover the environment. All are sorted by id, so equal rows give equal text.
 *
 * Each element has passed the schema with which data planes read it. What is not in that schema, such as
 * the name of a token, never leaves the control plane. A row that does not fit the schema, which another release may have
 * stored, keeps no other from being published: data planes get its id, its name and the reason, refuse what
 * depends on it, and report it.
 *
 * @param pace called between elements
 */
export async function compileSnapshot(
  rows: ConfigurationRows,
  options: CompileOptions,
  pace: Pace,
): Promise<string> {
  const { environment, environmentId } = rows;
  const tokenOf = (row: TokenRow) => compileToken(row, environment, options.nowMs);
  const texts = [
    await textsOf(rows.services, compileService, pace),
    await textsOf(rows.routes, (row) => compileRoute(row, options.reservedHosts), pace),
    await textsOf(rows.tokens, tokenOf, pace),
  ].map((elements) => elements.join(','));
  const head: Pick<Snapshot, 'format' | 'environment' | 'environment_id' | 'version'> = {
    format: SNAPSHOT_FORMAT,
    environment,
    ...(environmentId !== undefined && { environment_id: environmentId }),
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

export function compileService(row: ServiceRow): SnapshotService | UnusableElement {
  return compiledOr(row, () => parsed('service', servedService(row)));
}

/**
 * @param reserved hosts that no route gets
 * @returns undefined if the route is not active
 */
export function compileRoute(
  stored: RouteRow,
  reserved: readonly string[],
): SnapshotRoute | UnusableElement | undefined {
  if (stored.status !== 'active') return undefined;
  const row = withoutReservedHosts(stored, reserved);
  return compiledOr(row, () => parsed('route', servedRoute(row)), row);
}

/** A way that this release cannot read stays: the route cannot be compiled then. */
function withoutReservedHosts(row: RouteRow, reserved: readonly string[]): RouteRow {
  if (reserved.length === 0 || !Array.isArray(row.match)) return row;
  const match = row.match.flatMap((way) => {
    return readableMatches([way]).length === 0 ? [way] : withoutReserved([way], reserved);
  });
  return { ...row, match };
}

/** @returns undefined if the token does not cover the environment or has expired */
export function compileToken(
  row: TokenRow,
  environment: string,
  nowMs: number,
): SnapshotToken | UnusableElement | undefined {
  if (!isServed(row, environment, nowMs)) return undefined;
  const { id } = row;
  return compiledOr({ id }, () => parsed('token', { ...row, secrets: secretsOf(row, nowMs) }));
}

/** @throws ZodError if data planes could not read the element */
function parsed<Kind extends ElementKind>(kind: Kind, value: unknown): ParsedElement<Kind> {
  const result = parseElement(kind, value);
  if (result.success) return result.data;
  throw result.error;
}

/** What takes the place of a row that does not compile says which one it is, and why. */
function compiledOr<Served>(
  { id, name }: { readonly id: string; readonly name?: string },
  compile: () => Served,
  route?: Pick<RouteRow, 'auth' | 'match'>,
): Served | UnusableElement {
  try {
    return compile();
  } catch (error) {
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    const where = issue?.path.join('.') ?? '';
    const why = issue === undefined ? 'it does not compile' : `${where} ${issue.message}`;
    return {
      id,
      ...(name !== undefined && { name }),
      ...(route !== undefined && { ...readableAuth(route.auth), ...matchOf(route) }),
      unusable: why.slice(0, MAX_REASON_CHARS),
    };
  }
}

/** Callers of the route authenticate in this way, so that only they learn that it is unusable. */
function readableAuth(auth: RouteRow['auth']): Pick<UnusableElement, 'auth'> {
  try {
    return { auth: authSchema.parse(servedAuth(auth)) };
  } catch {
    return {};
  }
}

/** No other route gets the requests of the route. */
function matchOf(route: Pick<RouteRow, 'match'>): Pick<UnusableElement, 'match'> {
  const match = readableMatches(route.match);
  return match.length === 0 ? {} : { match };
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

/** A route with `service_id` has one version without a name; one that answers itself has none. */
function servedRoute(route: RouteRow) {
  const { service_id } = route;
  const only = service_id === null ? [] : [{ name: null, service_id, weight: 1 }];
  return {
    ...(route.rewrite && { format: ELEMENT_FORMAT }),
    ...route,
    versions: route.versions ?? only,
    auth: servedAuth(route.auth),
  };
}

function isServed(token: TokenRow, environment: string, nowMs: number): boolean {
  if (token.revoked || !covers(token.environments, environment)) return false;
  return token.expires_at_ms === null || token.expires_at_ms + EXPIRED_TOKEN_GRACE_MS > nowMs;
}

/** The newest secret, then the rotated one during its grace period, which ends with the token at the latest. */
function secretsOf(token: TokenRow, nowMs: number) {
  const secrets = [{ sha256: token.secret_sha256, expires_at_ms: token.expires_at_ms }];
  const { previous_sha256: sha256, previous_expires_at_ms: graceEndMs } = token;
  if (sha256 !== null && graceEndMs !== null && graceEndMs > nowMs) {
    const expiresAtMs = Math.min(graceEndMs, token.expires_at_ms ?? Infinity);
    secrets.push({ sha256, expires_at_ms: expiresAtMs });
  }
  return secrets;
}

/** Sorts by UTF-16 code units, which does not depend on the locale. */
export function byId<T extends { readonly id: string }>(rows: readonly T[]): readonly T[] {
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}
