import { z } from 'zod';
import { coveredNames, refuseAccess, requireEnvironment } from '../../access/access.ts';
import { choiceField, environmentNameField } from '@gateway/shared/definitions/fields';
import { covers, grantsScope, type TokenReach } from '@gateway/shared/tokens/scopes';
import {
  environmentInputSchema,
  environmentView,
  environmentViewSchema,
  listedEnvironmentSchema,
  listedEnvironmentView,
  type EnvironmentVersion,
  type ListedCounts,
} from '../environment.ts';
import { countContents, type EnvironmentCounts } from '../store/count-contents.ts';
import { deleteEnvironment } from '../store/delete-environment.ts';
import {
  createEnvironment,
  environmentNotFound,
  findEnvironment,
  listEnvironments,
} from '../store/environments.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { etagOf, type Tagged } from '../../http/etag.ts';
import { cutPage, decodeCursor, listParameters } from '../../http/list-query.ts';
import { nameParameter } from '../../http/path-parameters.ts';
import { concerning, created, noContent, ok, page } from '../../http/reply.ts';
import { originOf } from '../../http/change-origin.ts';
import type { ResourceDeps } from '../../http/resource-deps.ts';

const LIST = 'environments';
const PATH = '/v1/environments';

const environmentNameParameter = nameParameter('The name of the environment.', 'production');

/** The environment in a path. An invalid name is not looked up. @throws GatewayError environment_not_found */
export function environmentName({ name = '' }: Readonly<Record<string, string>>): string {
  if (!environmentNameField.safeParse(name).success) throw environmentNotFound();
  return name;
}

/**
 * The revision of an environment is its newest version. Numbers of versions only rise for a name, so its own need no id.
 * Before the first of its own, the number is that of an environment which had the name before.
 */
export function taggedEnvironment(environment: EnvironmentVersion): Tagged {
  const { id, config_version: revision, first_version: first } = environment;
  return first === null ? { id, revision } : { revision };
}

/** Of what an environment has, what the token may list in full. */
function visibleCounts(
  token: TokenReach & { readonly scopes: readonly string[] },
  counts: EnvironmentCounts | undefined,
): ListedCounts {
  if (counts === undefined) return null;
  const seesAllRoutes = covers(token.routes, '*');
  const seesTokens = seesAllRoutes && covers(token.environments, '*');
  return {
    services: grantsScope(token.scopes, 'services:read') ? counts.services : null,
    routes: grantsScope(token.scopes, 'routes:read') && seesAllRoutes ? counts.routes : null,
    tokens: grantsScope(token.scopes, 'tokens:read') && seesTokens ? counts.tokens : null,
  };
}

/** The endpoints of environments. */
export function environmentEndpoints(deps: ResourceDeps): Endpoint[] {
  const { db } = deps;
  const list = endpoint({
    method: 'GET',
    path: PATH,
    operationId: 'listEnvironments',
    tag: 'Environments',
    summary: 'List environments',
    description: 'Lists the environments that the token covers, by name.',
    scope: null,
    answers: 'page',
    data: listedEnvironmentSchema,
    errors: [],
    query: z.strictObject({
      ...listParameters,
      counts: choiceField(['true'])
        .optional()
        .meta({
          description: 'Counts the services, routes and tokens of each as well. Default: no.',
          examples: ['true'],
        }),
    }),
    async handle({ token, query: { limit, cursor, counts } }) {
      const after =
        cursor === undefined ? undefined : decodeCursor(LIST, environmentNameField, cursor);
      const names = coveredNames(token.environments);
      const rows = await listEnvironments(db, { names, after, limit: limit + 1 });
      const cut = cutPage(rows, limit, LIST, (row) => row.name);
      const shown = cut.rows.map(({ name }) => name);
      const counted = counts === undefined ? undefined : await countContents(db, shown);
      return page(
        cut.rows.map((row) =>
          listedEnvironmentView(row, visibleCounts(token, counted?.get(row.name))),
        ),
        cut.nextCursor,
      );
    },
  });

  const create = endpoint({
    method: 'POST',
    path: PATH,
    operationId: 'createEnvironment',
    tag: 'Environments',
    summary: 'Create an environment',
    description: 'Creates an environment. The token must cover all environments (`*`).',
    scope: 'config:write',
    answers: 'created',
    data: environmentViewSchema,
    errors: ['name_conflict'],
    body: environmentInputSchema,
    async handle(call) {
      const { token, body } = call;
      if (!token.environments.includes('*')) {
        throw refuseAccess('Only a token for all environments can create one.');
      }
      const environment = await createEnvironment(db, body.name, originOf(deps, call));
      const reply = created(environmentView(environment), `${PATH}/${body.name}`);
      return concerning([body.name], reply);
    },
  });

  const read = endpoint({
    method: 'GET',
    path: `${PATH}/{name}`,
    operationId: 'getEnvironment',
    tag: 'Environments',
    summary: 'Read an environment',
    description:
      'Returns one environment. The ETag is the number of the newest version, which a rollback takes as `If-Match`. ' +
      'Until a version of its own is published, it also has characters of the id.',
    params: { name: environmentNameParameter },
    scope: null,
    answers: 'one',
    data: environmentViewSchema,
    etag: true,
    errors: ['environment_not_found'],
    async handle({ token, params }) {
      const name = environmentName(params);
      requireEnvironment(token, name);
      const environment = await findEnvironment(db, name);
      return ok(environmentView(environment), etagOf(taggedEnvironment(environment)));
    },
  });

  const remove = endpoint({
    method: 'DELETE',
    path: `${PATH}/{name}`,
    operationId: 'deleteEnvironment',
    tag: 'Environments',
    summary: 'Delete an environment',
    description:
      'Deletes an environment that has no services, routes and tokens of its own. Tokens of all environments stay. ' +
      'The token must cover all environments (`*`).',
    params: { name: environmentNameParameter },
    scope: 'config:write',
    answers: 'none',
    errors: ['environment_not_found', 'environment_in_use'],
    async handle(call) {
      const { token, params } = call;
      const name = environmentName(params);
      if (!token.environments.includes('*')) {
        throw refuseAccess('Only a token for all environments can delete one.');
      }
      await deleteEnvironment(db, name, originOf(deps, call));
      return concerning([name], noContent());
    },
  });

  return [list, create, read, remove];
}
