import { z } from 'zod';
import { coveredNames, refuseAccess, requireEnvironment, requireScopes } from '../domain/access.ts';
import {
  differenceView,
  differenceViewSchema,
  rollBackSchema,
  rollBackViewSchema,
  versionField,
  versionView,
  versionViewSchema,
} from '../domain/config-history.ts';
import { environmentNameField } from '../domain/fields.ts';
import type { KnowsKey } from '../domain/roll-back.ts';
import {
  findVersion,
  listDifferences,
  listVersions,
  type Difference,
} from '../store/configuration/config-history.ts';
import { findEnvironment } from '../store/configuration/environments.ts';
import { rollBack } from '../store/configuration/roll-back.ts';
import { endpoint, type CallerToken, type Endpoint } from '../http/endpoint.ts';
import { invalidField } from '../http/input.ts';
import { cutPage, decodeCursor, listParameters, textParameter } from '../http/list-query.ts';
import { concerning, one, page } from '../http/reply.ts';
import { originOf } from './change-origin.ts';
import { namedInBody, UNKNOWN_ENVIRONMENT } from './missing-reference.ts';
import type { ResourceParts } from './resource-parts.ts';

const VERSIONS = 'config-versions';
const DIFFERENCES = 'config-diff';
const PATH = '/v1/config';

const versionMessage = 'must be the number of a version';

const versionParameter = textParameter()
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

const environmentQuery = z.strictObject({ environment: environmentNameField });
const versionsQuery = z.strictObject({ ...listParameters, environment: environmentNameField });
const diffQuery = z.strictObject({
  ...listParameters,
  environment: environmentNameField,
  from: versionParameter.meta({
    description: 'The version to compare.',
    examples: [41],
  }),
  to: versionParameter.meta({
    description: 'The version to compare it with.',
    examples: [42],
  }),
});
const differenceKey = z.tuple([
  z.enum(['service', 'route']),
  z.string().regex(/^[^\0]{1,64}$/),
  // `from` and `to` of the list.
  versionField,
  versionField,
]);

export interface ConfigVersionParts extends ResourceParts {
  readonly knowsKey: KnowsKey;
}

/** The versions of a configuration, the differences between two, and rollback; see docs/adr/0015. */
export function configVersionEndpoints(parts: ConfigVersionParts): readonly Endpoint[] {
  const { db, knowsKey } = parts;

  async function requireKnown(token: CallerToken, environment: string): Promise<void> {
    requireEnvironment(token, environment);
    await findEnvironment(db, environment);
  }

  const list = endpoint({
    method: 'GET',
    path: `${PATH}/versions`,
    operationId: 'listConfigVersions',
    tag: 'Configuration',
    summary: 'List configuration versions',
    description: 'Lists the stored versions of the configuration of an environment, newest first.',
    scope: 'config:read',
    answers: 'page',
    data: versionViewSchema,
    errors: ['environment_not_found'],
    query: versionsQuery,
    async handle({ token, query: { limit, cursor, environment } }) {
      const before =
        cursor === undefined ? undefined : decodeCursor(VERSIONS, versionField, cursor);
      await requireKnown(token, environment);
      const rows = await listVersions(db, { environment, before, limit: limit + 1 });
      const cut = cutPage(rows, limit, VERSIONS, (row) => row.version);
      return page(cut.rows.map(versionView), cut.nextCursor);
    },
  });

  const read = endpoint({
    method: 'GET',
    path: `${PATH}/versions/{version}`,
    operationId: 'getConfigVersion',
    tag: 'Configuration',
    summary: 'Read a configuration version',
    description:
      'Says when, why and by whom a version of the configuration of an environment was made.',
    params: { version: versionParameter },
    scope: 'config:read',
    answers: 'one',
    data: versionViewSchema,
    errors: ['environment_not_found', 'config_version_not_found'],
    query: environmentQuery,
    async handle({ token, params: { version = '' }, query: { environment } }) {
      const parsed = versionParameter.safeParse(version);
      if (!parsed.success) throw invalidField('version', versionMessage);
      await requireKnown(token, environment);
      return one(versionView(await findVersion(db, environment, parsed.data)));
    },
  });

  const diff = endpoint({
    method: 'GET',
    path: `${PATH}/diff`,
    operationId: 'diffConfigVersions',
    tag: 'Configuration',
    summary: 'Compare two configuration versions',
    description:
      'Lists the services and routes that differ between two versions and that the token covers.',
    scope: 'config:read',
    answers: 'page',
    data: differenceViewSchema,
    errors: ['environment_not_found', 'config_version_not_found'],
    query: diffQuery,
    async handle({ token, query: { limit, cursor, environment, from, to } }) {
      const position =
        cursor === undefined ? undefined : decodeCursor(DIFFERENCES, differenceKey, cursor);
      if (position !== undefined && (position[2] !== from || position[3] !== to)) {
        throw invalidField('cursor', 'is not a cursor of this list');
      }
      await requireKnown(token, environment);
      for (const version of [from, to]) await findVersion(db, environment, version);
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
    },
  });

  const restore = endpoint({
    method: 'POST',
    path: `${PATH}/rollback`,
    operationId: 'rollBackConfig',
    tag: 'Configuration',
    summary: 'Roll the configuration back',
    description:
      'Restores the services and routes of a version and publishes them as a new version. Tokens do not change. ' +
      'The token also needs the scopes `services:write` and `routes:write`, and must cover all routes.',
    scope: 'config:write',
    answers: 'one',
    data: rollBackViewSchema,
    errors: ['config_version_not_found', 'config_version_not_restorable'],
    body: rollBackSchema,
    async handle(call) {
      const { token, body } = call;
      const { environment, version } = body;
      requireScopes(token, ['config:write', 'services:write', 'routes:write']);
      if (!token.routes.includes('*')) {
        throw refuseAccess('Only a token for all routes can roll a configuration back.');
      }
      await namedInBody(
        'environment_not_found',
        { path: 'environment', message: UNKNOWN_ENVIRONMENT },
        () => requireKnown(token, environment),
      );
      const result = await rollBack(db, {
        environment,
        version,
        origin: originOf(parts, call),
        knowsKey,
      });
      const changed = [result.services, result.routes].some(
        ({ created, updated, deleted }) => created + updated + deleted > 0,
      );
      return concerning(
        [environment],
        one({ environment, restored_version: version, changed, ...result }),
      );
    },
  });

  return [list, read, diff, restore];
}
