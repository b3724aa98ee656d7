import { isDeepStrictEqual } from 'node:util';
import type { ErrorDetail } from '@gateway/shared/errors/gateway-error';
import type { ApplyDocument, DeclaredRoute, DeclaredService } from './apply-document.ts';
import { documentFault } from './apply-document.ts';
import type { StoredRoute, StoredRow, StoredService } from './config-history.ts';
import {
  credentialNeeded,
  isSameService,
  newAddressOfCredential,
  replaceService,
  type ServiceSecrets,
} from '../services/replace-service.ts';
import type { RollBackPlan } from './roll-back.ts';
import { settingsOf, type RouteSettings } from '../routes/route.ts';
import { namedServices } from '../routes/route-versions.ts';
import type { ReferencedSecrets } from '../services/secret-references.ts';

/** The rows of an environment. */
export interface EnvironmentRows {
  readonly services: readonly StoredService[];
  readonly routes: readonly StoredRoute[];
}

/** What is written, and how many resources of the document stay as they are. */
export interface KindPlan<Row extends StoredRow = StoredRow> extends RollBackPlan<Row> {
  readonly unchanged: number;
}

export interface ApplyPlan {
  readonly service: KindPlan<StoredService>;
  readonly route: KindPlan<StoredRoute>;
  /** Why the document cannot be applied; empty if it can. */
  readonly faults: readonly ErrorDetail[];
  /** Services that would be deleted although a route that stays names them. */
  readonly stillUsed: readonly { readonly service: string; readonly route: string }[];
}

export interface ApplyInput {
  readonly environment: string;
  readonly document: ApplyDocument;
  /** Of each service of the document, in its order. */
  readonly references: readonly ReferencedSecrets[];
  readonly at: Date;
  readonly newId: (prefix: 'svc' | 'rte' | 'ups') => string;
  readonly secretsOf: (serviceId: string) => ServiceSecrets;
}

/** Plans how the rows of an environment become what a document declares. */
export function planApply(rows: EnvironmentRows, input: ApplyInput): ApplyPlan {
  const faults: ErrorDetail[] = [];
  const { prune } = input.document;
  const service = planKind(
    rows.services,
    input.document.services,
    prune,
    (declared, index, before) => serviceRow(declared, index, before, input, faults),
  );
  const removed = new Set(service.remove.map(({ id }) => id));
  // A service at fault has no row. The routes that name it are not at fault as well.
  const declared = (input.document.services ?? []).map(({ name }) => ({ id: '', name }));
  const ids = new Map(
    [...declared, ...rows.services, ...service.create]
      .filter(({ id }) => !removed.has(id))
      .map(({ id, name }) => [name, id]),
  );
  const route = planKind(rows.routes, input.document.routes, prune, (declared, index, before) =>
    routeRow(declared, index, before, input, ids, faults),
  );
  return { service, route, faults, stillUsed: stillUsed(rows, service, route) };
}

type MakeRow<Declared, Row> = (
  declared: Declared,
  index: number,
  before: Row | undefined,
) => Row | undefined;

/** @param makeRow the row that a declared resource becomes; its argument if it is the same already; undefined: at fault */
function planKind<Declared extends { readonly name: string }, Row extends StoredRow>(
  rows: readonly Row[],
  declared: readonly Declared[] | undefined,
  prune: boolean,
  makeRow: MakeRow<Declared, Row>,
): KindPlan<Row> {
  const byName = new Map(rows.map((row) => [row.name, row]));
  const create: Row[] = [];
  const update: { before: Row; after: Row }[] = [];
  let unchanged = 0;
  for (const [index, one] of (declared ?? []).entries()) {
    const before = byName.get(one.name);
    const after = makeRow(one, index, before);
    if (after === undefined) continue;
    if (before === undefined) create.push(after);
    else if (after === before) unchanged += 1;
    else update.push({ before, after });
  }
  const names = new Set(declared?.map(({ name }) => name));
  const isPruned = prune && declared !== undefined;
  const remove = isPruned ? rows.filter(({ name }) => !names.has(name)) : [];
  return { create, update, remove, renamed: [], unchanged };
}

function serviceRow(
  declared: DeclaredService,
  index: number,
  before: StoredService | undefined,
  input: ApplyInput,
  faults: ErrorDetail[],
): StoredService | undefined {
  const id = before?.id ?? input.newId('svc');
  const referenced = input.references[index];
  const fault = (path: readonly string[], message: string) => {
    faults.push(documentFault(input.document, ['services', index, ...path], message));
  };
  const wrong = referenced?.faults ?? [];
  for (const { path, message } of wrong) fault(path, message);
  if (wrong.length > 0) return undefined;
  const credential = referenced?.credential;
  const stored = before?.credential;
  if (credential && (stored?.type !== credential.type || stored?.header !== credential.header)) {
    fault(['credential'], 'is a reference that was not replaced, and there is no such credential');
    return undefined;
  }
  const certificate = referenced?.certificate;
  const present = before?.tls?.client_certificate;
  if (certificate && (!present || present.cert_pem !== certificate.cert_pem)) {
    const message = 'is a reference that was not replaced, and there is no key of this certificate';
    fault(['tls', 'client_certificate', 'key_pem'], message);
    return undefined;
  }
  const kept = {
    credential: credential !== undefined,
    clientCertificate: certificate !== undefined,
  };
  const newUpstreamId = () => input.newId('ups');
  const settings = replaceService(before, declared, kept, newUpstreamId, input.secretsOf(id));
  if (before !== undefined && isSameService(before, settings)) return before;
  const address = newAddressOfCredential(before, settings, kept);
  if (address !== undefined) {
    fault(['credential'], credentialNeeded(declared.name, address));
    return undefined;
  }
  return rowOf(id, settings, before, input);
}

function routeRow(
  declared: DeclaredRoute,
  index: number,
  before: StoredRoute | undefined,
  input: ApplyInput,
  ids: ReadonlyMap<string, string>,
  faults: ErrorDetail[],
): StoredRoute | undefined {
  const { service = null, versions = null, ...plain } = declared;
  const missing: string[] = [];
  const idOf = (name: string, path: readonly PropertyKey[]): string => {
    const id = ids.get(name);
    if (id !== undefined) return id;
    missing.push(name);
    const message = `must be the name of a service in the document or in the environment ${input.environment}`;
    faults.push(documentFault(input.document, ['routes', index, ...path], message));
    return '';
  };
  const settings = {
    ...plain,
    service_id: service === null ? null : idOf(service, ['service']),
    versions:
      versions?.map(({ name, service: named, weight }, at) => {
        return { name, service_id: idOf(named, ['versions', at, 'service']), weight };
      }) ?? null,
  } satisfies RouteSettings;
  if (missing.length > 0) return undefined;
  if (before !== undefined && isDeepStrictEqual(settingsOf(before), settingsOf(settings))) {
    return before;
  }
  return rowOf(before?.id ?? input.newId('rte'), settingsOf(settings), before, input);
}

function rowOf<Settings extends { readonly name: string }>(
  id: string,
  settings: Settings,
  before: StoredRow | undefined,
  { at, environment }: ApplyInput,
): StoredRow & Settings {
  const time = at.toISOString();
  return {
    ...before,
    ...settings,
    id,
    environment,
    revision: (before?.revision ?? 0) + 1,
    created_at: before?.created_at ?? time,
    updated_at: time,
  };
}

/** Deleted services that a route names which is neither in the document nor deleted. */
function stillUsed(
  rows: EnvironmentRows,
  service: KindPlan<StoredService>,
  route: KindPlan<StoredRoute>,
): ApplyPlan['stillUsed'] {
  const removed = new Map(service.remove.map(({ id, name }) => [id, name]));
  if (removed.size === 0) return [];
  const written = new Map(route.update.map(({ after }) => [after.id, after]));
  const gone = new Set(route.remove.map(({ id }) => id));
  return rows.routes.flatMap((row) => {
    if (gone.has(row.id)) return [];
    return namedServices(written.get(row.id) ?? row).flatMap(({ id }) => {
      const name = removed.get(id);
      return name === undefined ? [] : [{ service: name, route: row.name }];
    });
  });
}
