import { z } from 'zod';
import { differenceViewSchema, versionViewSchema } from '../config-history.ts';
import { rollBackSchema, rollBackViewSchema } from '../roll-back-view.ts';
import { environmentNameField } from '@gateway/shared/definitions/fields';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { listParameters } from '../../http/list-query.ts';
import {
  comparedVersions,
  configHistoryCalls,
  versionParameter,
  type ConfigVersionDeps,
} from './history-calls.ts';
import { namedInBody, UNKNOWN_ENVIRONMENT } from '../../http/missing-reference.ts';

const PATH = '/v1/config';
const NEW_PATH = '/v1/environments/{name}';

const environment = environmentNameField.meta({
  description: 'The name of the environment.',
  examples: ['production'],
});

/** The former paths of the versions of an environment. */
export function configVersionEndpoints(deps: ConfigVersionDeps): readonly Endpoint[] {
  const calls = configHistoryCalls(deps);
  const list = endpoint({
    method: 'GET',
    path: `${PATH}/versions`,
    deprecated: `Use \`GET ${NEW_PATH}/versions\`.`,
    operationId: 'listConfigVersions',
    tag: 'Configuration',
    summary: 'List configuration versions',
    description: 'Lists the stored versions of the configuration of an environment, newest first.',
    scope: 'config:read',
    answers: 'page',
    data: versionViewSchema,
    errors: ['environment_not_found'],
    query: z.strictObject({ ...listParameters, environment }),
    handle: ({ token, query }) => calls.versions(token, query.environment, query),
  });

  const read = endpoint({
    method: 'GET',
    path: `${PATH}/versions/{version}`,
    deprecated: `Use \`GET ${NEW_PATH}/versions/{version}\`.`,
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
    query: z.strictObject({ environment }),
    handle: ({ token, params, query }) =>
      calls.version(token, query.environment, params['version']),
  });

  const diff = endpoint({
    method: 'GET',
    path: `${PATH}/diff`,
    deprecated: `Use \`GET ${NEW_PATH}/diff\`.`,
    operationId: 'diffConfigVersions',
    tag: 'Configuration',
    summary: 'Compare two configuration versions',
    description:
      'Lists the services and routes that differ between two versions and that the token covers.',
    scope: 'config:read',
    answers: 'page',
    data: differenceViewSchema,
    errors: ['environment_not_found', 'config_version_not_found'],
    query: z.strictObject({ ...listParameters, environment, ...comparedVersions }),
    handle: ({ token, query }) => calls.differences(token, query.environment, query),
  });

  const restore = endpoint({
    method: 'POST',
    path: `${PATH}/rollback`,
    deprecated: `Use \`POST ${NEW_PATH}/rollback\`.`,
    operationId: 'rollBackConfig',
    tag: 'Configuration',
    summary: 'Roll the configuration back',
    description:
      'Restores the services and routes of a version and publishes them as a new version. Tokens do not change. ' +
      'The token also needs the scopes `services:write` and `routes:write`, and must cover all routes.',
    scope: 'config:write',
    answers: 'one',
    data: rollBackViewSchema,
    ifMatch: true,
    errors: [
      'config_version_not_found',
      'config_version_not_restorable',
      'in_use',
      'match_conflict',
      'precondition_failed',
    ],
    body: rollBackSchema,
    async handle(call) {
      const { token, body } = call;
      calls.requireRollBackRights(token);
      const named = { path: 'environment', message: UNKNOWN_ENVIRONMENT };
      return namedInBody('environment_not_found', named, async () => {
        await calls.requireKnown(token, body.environment);
        return calls.restore(call, body.environment, body);
      });
    },
  });

  return [list, read, diff, restore];
}
