import type { ErrorDetail } from '@gateway/shared/errors/gateway-error';
import type { RouteMirror } from '@gateway/shared/definitions/route-mirror';
import { settingsAfter, type ReplacedSettings, type Route } from '../routes/route.ts';
import { namedServices } from '../routes/route-versions.ts';
import {
  credentialFault,
  replaceService,
  type ServiceSecrets,
} from '../services/replace-service.ts';
import type { ReferencedSecrets } from '../services/secret-references.ts';
import type { Service } from '../services/service.ts';
import {
  documentFault,
  type ApplyDocument,
  type DeclaredRoute,
  type DeclaredService,
} from './apply-document.ts';
import {
  changeOfRow,
  routeWith,
  serviceWith,
  type PlannedRow,
  type RowChange,
  type RowKind,
  type Rows,
} from './row-change.ts';

/** The rows of an environment. */
export interface EnvironmentRows {
  readonly services: readonly Service[];
  readonly routes: readonly Route[];
}

export interface ApplyPlan {
  readonly changes: readonly RowChange[];
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
  readonly newId: (prefix: 'svc' | 'rte' | 'ups') => string;
  readonly secretsOf: (serviceId: string) => ServiceSecrets;
}

/** Plans how the rows of an environment become what a document declares. */
export function planApply(rows: EnvironmentRows, input: ApplyInput): ApplyPlan {
  const faults: ErrorDetail[] = [];
  const { services, routes, prune } = input.document;
  const ofServices = planKind('service', rows.services, services, prune, (one, index, before) =>
    serviceRow(one, index, before, input, faults),
  );
  // A service at fault has no row. The routes that name it are not at fault as well.
  const ids = new Map((services ?? []).map(({ name }) => [name, '']));
  for (const { id, name } of [...rows.services, ...rowsAfter(ofServices)]) ids.set(name, id);
  for (const { before, after } of ofServices) if (after === null && before) ids.delete(before.name);
  const ofRoutes = planKind('route', rows.routes, routes, prune, (one, index, before) =>
    routeRow(one, index, before, input, ids, faults),
  );
  const changes = [...ofServices, ...ofRoutes];
  return { changes, faults, stillUsed: stillUsed(rows.routes, changes) };
}

const rowsAfter = (changes: readonly RowChange[]) =>
  changes.flatMap(({ after }) => (after === null ? [] : [after]));

/** @param makeRow the row that a declared resource becomes; `before` if it is the same already; undefined: at fault */
function planKind<Kind extends RowKind, Declared extends { readonly name: string }>(
  kind: Kind,
  rows: readonly Rows[Kind][],
  declared: readonly Declared[] | undefined,
  prune: boolean,
  makeRow: (
    declared: Declared,
    index: number,
    before: Rows[Kind] | null,
  ) => PlannedRow<Rows[Kind]> | undefined,
): readonly RowChange[] {
  if (declared === undefined) return [];
  const byName = new Map(rows.map((row) => [row.name, row]));
  const written = declared.flatMap((one, index) => {
    const before = byName.get(one.name) ?? null;
    const after = makeRow(one, index, before);
    return after === undefined ? [] : changeOfRow(kind, before, after);
  });
  if (!prune) return written;
  const names = new Set(declared.map(({ name }) => name));
  const removed = rows.filter(({ name }) => !names.has(name));
  return [...written, ...removed.flatMap((row) => changeOfRow(kind, row, null))];
}

function serviceRow(
  declared: DeclaredService,
  index: number,
  before: Service | null,
  input: ApplyInput,
  faults: ErrorDetail[],
): PlannedRow<Service> | undefined {
  const { environment, document, references, newId, secretsOf } = input;
  const identity = before ?? { id: newId('svc'), environment };
  const referenced = references[index];
  const fault = (path: readonly string[], message: string) => {
    faults.push(documentFault(document, ['services', index, ...path], message));
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
  const secrets = secretsOf(identity.id);
  const settings = replaceService(before, declared, kept, () => newId('ups'), secrets);
  const refused = credentialFault(before, settings, kept);
  if (refused !== undefined) {
    fault(['credential'], refused);
    return undefined;
  }
  return serviceWith(settings, identity, before);
}

function routeRow(
  declared: DeclaredRoute,
  index: number,
  before: Route | null,
  { environment, document, newId }: ApplyInput,
  ids: ReadonlyMap<string, string>,
  faults: ErrorDetail[],
): PlannedRow<Route> | undefined {
  const { service = null, versions = null, mirror, ...plain } = declared;
  const missing: string[] = [];
  const idOf = (name: string, path: readonly PropertyKey[]): string => {
    const id = ids.get(name);
    if (id !== undefined) return id;
    missing.push(name);
    const message = `must be the name of a service in the document or in the environment ${environment}`;
    faults.push(documentFault(document, ['routes', index, ...path], message));
    return '';
  };
  const settings = {
    ...plain,
    service_id: service === null ? null : idOf(service, ['service']),
    versions:
      versions?.map(({ name, service: named, weight }, at) => {
        return { name, service_id: idOf(named, ['versions', at, 'service']), weight };
      }) ?? null,
    mirror: mirror && withServiceId(mirror, idOf(mirror.service, ['mirror', 'service'])),
  } satisfies ReplacedSettings;
  if (missing.length > 0) return undefined;
  const identity = before ?? { id: newId('rte'), environment };
  return routeWith(settingsAfter(settings, before), identity, before);
}

function withServiceId(
  { service: _name, ...settings }: NonNullable<DeclaredRoute['mirror']>,
  id: string,
): RouteMirror {
  return { service_id: id, ...settings };
}

/** Deleted services that a route names which is neither in the document nor deleted. */
function stillUsed(
  routes: readonly Route[],
  changes: readonly RowChange[],
): ApplyPlan['stillUsed'] {
  const removed = new Map<string, string>();
  const written = new Map<string, PlannedRow<Route> | null>();
  for (const { kind, before, after } of changes) {
    if (kind === 'route' && before !== null) written.set(before.id, after);
    if (kind === 'service' && before !== null && after === null)
      removed.set(before.id, before.name);
  }
  if (removed.size === 0) return [];
  return routes.flatMap((row) => {
    const after = written.get(row.id);
    if (after === null) return [];
    return namedServices(after ?? row).flatMap(({ id }) => {
      const name = removed.get(id);
      return name === undefined ? [] : [{ service: name, route: row.name }];
    });
  });
}
