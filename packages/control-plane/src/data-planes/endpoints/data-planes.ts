import type { Clock } from '@gateway/shared/clock';
import { z } from 'zod';
import { coveredNames, requireEnvironment } from '../../access/access.ts';
import { behindOf, dataPlaneView, dataPlaneViewSchema } from '../data-plane.ts';
import type { DataPlanes } from '../data-planes.ts';
import { readSecondsBehind } from '../../configuration/store/config-versions.ts';
import type { Database } from '../../store/database.ts';
import { listEnvironments } from '../../environments/store/environments.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { cutPage, decodeCursor, environmentFilter, listParameters } from '../../http/list-query.ts';
import { page } from '../../http/reply.ts';

const LIST = 'data-planes';
/** Data planes have the same limit. */
const MAX_ENVIRONMENTS = 1000;

const query = z.strictObject({
  ...listParameters,
  environment: environmentFilter,
});

export interface DataPlaneEndpointDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly dataPlanes: DataPlanes;
}

/** `GET /v1/data-planes`: the data planes and the configuration that they serve; see docs/adr/0015. */
export function dataPlaneEndpoints(deps: DataPlaneEndpointDeps): readonly Endpoint[] {
  const { db, clock, dataPlanes } = deps;
  const list = endpoint({
    method: 'GET',
    path: '/v1/data-planes',
    operationId: 'listDataPlanes',
    tag: 'Data planes',
    summary: 'List data planes',
    description:
      'Lists the data planes by id, with the configuration versions that they serve. Only environments that the ' +
      'token covers are shown.',
    scope: 'config:read',
    answers: 'page',
    data: dataPlaneViewSchema,
    errors: [],
    query,
    async handle({ token, query: { limit, cursor, environment } }) {
      const after = cursor === undefined ? '' : decodeCursor(LIST, z.string().max(64), cursor);
      if (environment !== undefined) requireEnvironment(token, environment);
      const names = environment === undefined ? coveredNames(token.environments) : [environment];
      const rows = await listEnvironments(db, { names, after: undefined, limit: MAX_ENVIRONMENTS });
      const newest = rows.map((row) => ({ environment: row.name, version: row.config_version }));
      const nowMs = clock.monotonicMs();
      const known = dataPlanes.list(nowMs).filter(({ heartbeat }) => heartbeat.id > after);
      const cut = cutPage(known.slice(0, limit + 1), limit, LIST, (one) => one.heartbeat.id);
      const behind = cut.rows.flatMap((one) => behindOf(one, newest));
      const seconds = await readSecondsBehind(db, behind);
      const context = {
        nowMs,
        wallMs: clock.nowMs(),
        newest,
        secondsBehind: seconds,
        showsAll: environment === undefined && coveredNames(token.environments) === undefined,
        token,
      };
      return page(
        cut.rows.map((one) => dataPlaneView(one, context)),
        cut.nextCursor,
      );
    },
  });
  return [list];
}
