import { ApiError, type GatewayClient } from '@gateway/client';
import { errorMessage, StartError } from '../process/errors.ts';

/** The environment of the demo service and its route. */
export const demoEnvironment = 'production';
const demoName = 'echo';

const params = { query: { environment: demoEnvironment, name: demoName } };

async function first<Item>(items: AsyncIterable<Item>): Promise<Item | undefined> {
  for await (const item of items) return item;
  return undefined;
}

/**
 * Creates the service and the route `echo` if they do not exist. The URL of an existing service is updated only if it is
 * still `previousUrl`; a URL that an operator has set stays.
 *
 * @returns whether something was changed
 * @throws StartError
 */
export async function ensureDemo(
  client: GatewayClient,
  url: string,
  previousUrl: string | undefined,
  adminTokenFile?: string,
): Promise<boolean> {
  try {
    const service = await ensureService(client, url, previousUrl);
    if ((await first(client.list('/v1/routes', { params }))) !== undefined) return service.changed;
    const body = { name: demoName, service_id: service.id, timeout_ms: 10_000, retry_count: 2 };
    await client.post('/v1/routes', { body });
    return true;
  } catch (error) {
    const orDelete =
      adminTokenFile === undefined ? '' : `, or delete ${adminTokenFile} for a new one`;
    const isRefused = error instanceof ApiError && error.status === 401;
    const reason = isRefused
      ? `the admin token was revoked or replaced; set GATEWAY_ADMIN_TOKEN to its newest secret${orDelete}`
      : errorMessage(error);
    const message = `the demo route could not be created: ${reason}`;
    throw new StartError(message, { cause: error });
  }
}

async function ensureService(
  client: GatewayClient,
  url: string,
  previousUrl: string | undefined,
): Promise<{ readonly id: string; readonly changed: boolean }> {
  const service = await first(client.list('/v1/services', { params }));
  if (service === undefined) {
    const body = { name: demoName, environment: demoEnvironment, url, health_path: '/healthz' };
    const { body: created } = await client.post('/v1/services', { body });
    return { id: created.data.id, changed: true };
  }
  const { id } = service;
  if (service.url === url || service.url !== previousUrl) return { id, changed: false };
  await client.patch('/v1/services/{id}', { params: { path: { id } }, body: { url } });
  return { id, changed: true };
}
