import { ApiError, type GatewayClient } from '@gateway/client';
import { errorMessage, StartError } from '@gateway/tools/process/errors';

/** The environment of the demo service and its route. */
export const demoEnvironment = 'production';
const demoName = 'echo';

const params = { query: { environment: demoEnvironment, name: demoName } };

async function first<Item>(items: AsyncIterable<Item>): Promise<Item | undefined> {
  for await (const item of items) return item;
  return undefined;
}

/** `refused`: the API does not accept the token, so nothing is known. */
export type DemoState = 'changed' | 'unchanged' | 'refused';

/**
 * Creates the service and the route `echo` if they do not exist. The URL of an existing service is updated only if it is
 * still `previousUrl`; a URL that an operator has set stays.
 *
 * @throws StartError
 */
export async function ensureDemo(
  client: GatewayClient,
  url: string,
  previousUrl: string | undefined,
): Promise<DemoState> {
  try {
    const service = await ensureService(client, url, previousUrl);
    if ((await first(client.list('/v1/routes', { params }))) !== undefined) {
      return service.changed ? 'changed' : 'unchanged';
    }
    const body = { name: demoName, service_id: service.id, timeout_ms: 10_000, retry_count: 2 };
    await client.post('/v1/routes', { body });
    return 'changed';
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return 'refused';
    const message = `the demo route could not be created: ${errorMessage(error)}`;
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
