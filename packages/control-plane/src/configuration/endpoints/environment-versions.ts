import { z } from 'zod';
import { differenceViewSchema, versionViewSchema } from '../config-history.ts';
import { environmentRollBackSchema, rollBackViewSchema } from '../roll-back-view.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { listParameters } from '../../http/list-query.ts';
import { nameParameter } from '../../http/path-parameters.ts';
import { environmentName } from '../../environments/endpoints/environments.ts';
import {
  comparedVersions,
  configHistoryCalls,
  versionParameter,
  type ConfigVersionDeps,
} from './history-calls.ts';

const PATH = '/v1/environments/{name}';

const params = { name: nameParameter('The name of the environment.', 'production') };

/** The versions of an environment, the differences between two, and rollback; see docs/adr/0015. */
export function environmentVersionEndpoints(deps: ConfigVersionDeps): readonly Endpoint[] {
  const calls = configHistoryCalls(deps);

  const list = endpoint({
    method: 'GET',
    path: `${PATH}/versions`,
    operationId: 'listEnvironmentVersions',
    tag: 'Configuration',
    summary: 'List the versions of an environment',
    description: 'Lists the stored versions of the configuration of an environment, newest first.',
    params,
    scope: 'config:read',
    answers: 'page',
    data: versionViewSchema,
    errors: ['environment_not_found'],
    query: z.strictObject(listParameters),
    handle: (call) => calls.versions(call.token, environmentName(call.params), call.query),
  });

  const read = endpoint({
    method: 'GET',
    path: `${PATH}/versions/{version}`,
    operationId: 'getEnvironmentVersion',
    tag: 'Configuration',
    summary: 'Read a version of an environment',
    description:
      'Says when, why and by whom a version of the configuration of an environment was made.',
    params: { ...params, version: versionParameter },
    scope: 'config:read',
    answers: 'one',
    data: versionViewSchema,
    errors: ['environment_not_found', 'config_version_not_found'],
    handle: (call) =>
      calls.version(call.token, environmentName(call.params), call.params['version']),
  });

  const diff = endpoint({
    method: 'GET',
    path: `${PATH}/diff`,
    operationId: 'diffEnvironmentVersions',
    tag: 'Configuration',
    summary: 'Compare two versions of an environment',
    description:
      'Lists the services and routes that differ between two versions and that the token covers.',
    params,
    scope: 'config:read',
    answers: 'page',
    data: differenceViewSchema,
    errors: ['environment_not_found', 'config_version_not_found'],
    query: z.strictObject({ ...listParameters, ...comparedVersions }),
    handle: (call) => calls.differences(call.token, environmentName(call.params), call.query),
  });

  const restore = endpoint({
    method: 'POST',
    path: `${PATH}/rollback`,
    operationId: 'rollBackEnvironment',
    tag: 'Configuration',
    summary: 'Roll an environment back',
    description:
      'Restores the services and routes of a version and publishes them as a new version. Tokens do not change. ' +
      'The token also needs the scopes `services:write` and `routes:write`, and must cover all routes. With `If-Match` ' +
      'and the ETag of the environment, it happens only if its newest version is still that one. With `dry_run` it shows ' +
      'what would change, and changes nothing.',
    params,
    scope: 'config:write',
    answers: 'one',
    data: rollBackViewSchema,
    ifMatch: true,
    errors: [
      'environment_not_found',
      'config_version_not_found',
      'config_version_not_restorable',
      'in_use',
      'match_conflict',
      'precondition_failed',
    ],
    body: environmentRollBackSchema,
    async handle(call) {
      const name = environmentName(call.params);
      calls.requireRollBackRights(call.token);
      await calls.requireKnown(call.token, name);
      return calls.restore(call, name, call.body);
    },
  });

  return [list, read, diff, restore];
}
