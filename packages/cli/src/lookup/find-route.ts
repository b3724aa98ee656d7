import type { Answer, components } from '@gateway/client';
import type { Session } from '../session.ts';
import { collectItems } from './collect-items.ts';
import { idPattern, onlyMatch } from './only-match.ts';
import { suggestRoutes } from './suggest-names.ts';

type RouteAnswer = Answer<{ data: components['schemas']['Route'] }>;

const ID = idPattern('rte');

/** The id of a route that is given by name or id. */
export async function routeId(session: Session, nameOrId: string): Promise<string> {
  if (ID.test(nameOrId)) return nameOrId;
  const { client, environment } = session;
  const query = { name: nameOrId, ...(environment === undefined ? {} : { environment }) };
  const found = await collectItems(client.list('/v1/routes', { params: { query } }));
  const place = (route: { environment: string }) => `--environment ${route.environment}`;
  const hint = found.length === 0 ? await suggestRoutes(session, nameOrId) : '';
  return onlyMatch(found, { kind: 'route', name: nameOrId, place, hint }).id;
}

/** Reads a route that is given by name or id. */
export async function readRoute(session: Session, nameOrId: string): Promise<RouteAnswer> {
  const id = await routeId(session, nameOrId);
  return session.client.get('/v1/routes/{id}', { params: { path: { id } } });
}
