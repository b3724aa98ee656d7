import { z } from 'zod';
import {
  coveredNames,
  refuseAccess,
  requireEnvironment,
  requireScopes,
} from '../../access/access.ts';
import { differenceView, versionField, versionView } from '../config-history.ts';
import type { KnowsKey } from '../roll-back.ts';
import { rollBackView } from '../roll-back-view.ts';
import type { Call } from '../../http/endpoint.ts';
import type { CallerToken } from '../../access/caller.ts';
import { requireVersionMatch } from '../../http/etag.ts';
import { invalidField } from '../../http/input.ts';
import { cutPage, decodeCursor, textParameter } from '../../http/list-query.ts';
import { concerning, ok, page, type Reply } from '../../http/reply.ts';
import {
  findVersion,
  listDifferences,
  listVersions,
  type Difference,
} from '../store/config-history.ts';
import { findEnvironment } from '../../environments/store/environments.ts';
import { serviceNames } from '../apply-view.ts';
import { changeRows, planRows } from '../store/change-rows.ts';
import { rollBackTo, type RollBackRead } from '../store/roll-back.ts';
import { originOf } from '../../http/change-origin.ts';
import { taggedEnvironment } from '../../environments/endpoints/environments.ts';
import type { ResourceDeps } from '../../http/resource-deps.ts';

const VERSIONS = 'config-versions';
const DIFFERENCES = 'config-diff';

const versionMessage = 'must be the number of a version';

/** The number of a version in a path or a query. */
export const versionParameter = textParameter()
  .regex(/^\d{1,15}$/, { error: versionMessage })
  .transform(Number)
  .pipe(z.number().min(1, { error: versionMessage }))
  .meta({
    type: 'integer',
    pattern: undefined,
    minimum: 1,
    description: 'The number of a version.',
    examples: [42],
  });

/** The two versions of a comparison. */
export const comparedVersions = {
  from: versionParameter.meta({ description: 'The version to compare.', examples: [41] }),
  to: versionParameter.meta({ description: 'The version to compare it with.', examples: [42] }),
};

const differenceKey = z.tuple([
  z.enum(['service', 'route']),
  z.string().regex(/^[^\0]{1,64}$/),
  // `from` and `to` of the list.
  versionField,
  versionField,
]);

export interface ConfigVersionDeps extends ResourceDeps {
  readonly knowsKey: KnowsKey;
  /** Hosts that no route may get. */
  readonly reservedHosts: readonly string[];
}

interface Page {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Only who covers all environments may read what a deleted one has left. */
function mayReadFormer(token: CallerToken): boolean {
  return coveredNames(token.environments) === undefined;
}

/** The calls of the versions of an environment, which have a path of their own and a deprecated one. */
export function configHistoryCalls(deps: ConfigVersionDeps) {
  const { db, knowsKey, reservedHosts } = deps;

  /** @throws GatewayError authentication_failed, environment_not_found */
  async function requireKnown(token: CallerToken, environment: string): Promise<void> {
    requireEnvironment(token, environment);
    await findEnvironment(db, environment);
  }

  async function versions(
    token: CallerToken,
    environment: string,
    { limit, cursor }: Page,
  ): Promise<Reply> {
    const before = cursor === undefined ? undefined : decodeCursor(VERSIONS, versionField, cursor);
    await requireKnown(token, environment);
    const routes = coveredNames(token.routes);
    const withFormer = mayReadFormer(token);
    const filter = { environment, before, withFormer, routes, limit: limit + 1 };
    const rows = await listVersions(db, filter);
    const cut = cutPage(rows, limit, VERSIONS, (row) => row.version);
    return page(cut.rows.map(versionView), cut.nextCursor);
  }

  async function version(
    token: CallerToken,
    environment: string,
    number: string | undefined,
  ): Promise<Reply> {
    const parsed = versionParameter.safeParse(number);
    if (!parsed.success) throw invalidField('version', versionMessage);
    await requireKnown(token, environment);
    const routes = coveredNames(token.routes);
    const withFormer = mayReadFormer(token);
    const wanted = { environment, version: parsed.data, withFormer, routes };
    return ok(versionView(await findVersion(db, wanted)));
  }

  async function differences(
    token: CallerToken,
    environment: string,
    { limit, cursor, from, to }: Page & { readonly from: number; readonly to: number },
  ): Promise<Reply> {
    const position =
      cursor === undefined ? undefined : decodeCursor(DIFFERENCES, differenceKey, cursor);
    if (position !== undefined && (position[2] !== from || position[3] !== to)) {
      throw invalidField('cursor', 'is not a cursor of this list');
    }
    await requireKnown(token, environment);
    const withFormer = mayReadFormer(token);
    for (const version of [from, to]) await findVersion(db, { environment, version, withFormer });
    const { rows, isCut } = await listDifferences(db, {
      environment,
      from: Math.min(from, to),
      to: Math.max(from, to),
      routes: coveredNames(token.routes),
      after: position === undefined ? undefined : { kind: position[0], id: position[1] },
      limit: limit + 1,
    });
    const keyOf = (row: Difference) => [row.kind, row.entity_id, from, to];
    const cut = cutPage(rows, limit, DIFFERENCES, keyOf, isCut);
    const views = cut.rows.map(({ kind, entity_id, before, after }) =>
      from <= to
        ? differenceView(kind, entity_id, before, after)
        : differenceView(kind, entity_id, after, before),
    );
    return page(views, cut.nextCursor);
  }

  /** The scopes and the routes that a rollback needs. @throws GatewayError authentication_failed */
  function requireRollBackRights(token: CallerToken): void {
    requireScopes(token, ['config:write', 'services:write', 'routes:write']);
    if (!token.routes.includes('*')) {
      throw refuseAccess('Only a token for all routes can roll a configuration back.');
    }
  }

  async function restore(
    call: Call<unknown, unknown>,
    environment: string,
    { version: restored, dry_run: dryRun }: { readonly version: number; readonly dry_run: boolean },
  ): Promise<Reply> {
    const change = rollBackTo({
      environment,
      version: restored,
      mayReadFormer: mayReadFormer(call.token),
      knowsKey,
      reservedHosts,
      requireState: (state) =>
        requireVersionMatch(call.ifMatch, taggedEnvironment(state), state.pending),
    });
    const make = dryRun ? planRows : changeRows;
    const { read, changes } = await make<RollBackRead>(db, originOf(deps, call), change);
    const target = { environment, version: restored, dryRun };
    const reply = ok(rollBackView(target, changes, serviceNames(read.services, changes)));
    return dryRun ? reply : concerning([environment], reply);
  }

  return { requireKnown, versions, version, differences, requireRollBackRights, restore };
}
