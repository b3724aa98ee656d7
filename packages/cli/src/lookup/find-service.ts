import type { Answer, components } from '@gateway/client';
import type { Session } from '../session.ts';
import { collectItems } from './collect-items.ts';
import { idPattern, onlyMatch } from './only-match.ts';
import { suggestServices } from './suggest-names.ts';

type ServiceAnswer = Answer<{ data: components['schemas']['Service'] }>;

const ID = idPattern('svc');

/** The id of a service that is given by name or id. */
export async function serviceId(session: Session, nameOrId: string): Promise<string> {
  if (ID.test(nameOrId)) return nameOrId;
  const { client, environment } = session;
  const query = { name: nameOrId, ...(environment === undefined ? {} : { environment }) };
  const found = await collectItems(client.list('/v1/services', { params: { query } }));
  const place = (service: { environment: string }) => `--environment ${service.environment}`;
  const hint = found.length === 0 ? await suggestServices(session, nameOrId) : '';
  return onlyMatch(found, { kind: 'service', name: nameOrId, place, hint }).id;
}

/** Reads a service that is given by name or id. */
export async function readService(session: Session, nameOrId: string): Promise<ServiceAnswer> {
  const id = await serviceId(session, nameOrId);
  return session.client.get('/v1/services/{id}', { params: { path: { id } } });
}
