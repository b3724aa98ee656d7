import { z } from 'zod';
import type { ManagementClient } from './management-client.ts';

/** The environment of the demo service and its route. */
export const demoEnvironment = 'production';
const demoName = 'echo';

const listed = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      environment: z.string(),
      url: z.string().nullish(),
    }),
  ),
  next_cursor: z.string().nullish(),
});
const created = z.object({ data: z.object({ id: z.string() }) });

type Resource = z.infer<typeof listed>['data'][number];

async function find(client: ManagementClient, collection: string): Promise<Resource | undefined> {
  for (let cursor = ''; ;) {
    const page = listed.parse(await client.get(`${collection}?limit=200${cursor}`));
    const found = page.data.find(
      (one) => one.name === demoName && one.environment === demoEnvironment,
    );
    if (found !== undefined || typeof page.next_cursor !== 'string') return found;
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
}

/**
 * Creates the service and the route `echo` if they do not exist. The URL of an existing service is updated only if it is
 * still `previousUrl`; a URL that an operator has set stays.
 *
 * @returns whether something was changed
 */
export async function ensureDemo(
  client: ManagementClient,
  url: string,
  previousUrl: string | undefined,
): Promise<boolean> {
  let changed = false;
  const service = await find(client, '/v1/services');
  let serviceId = service?.id;
  if (service === undefined) {
    const body = { name: demoName, environment: demoEnvironment, url, health_path: '/healthz' };
    serviceId = created.parse(await client.post('/v1/services', body)).data.id;
    changed = true;
  } else if (service.url !== url && service.url === previousUrl) {
    await client.patch(`/v1/services/${service.id}`, { url });
    changed = true;
  }
  if ((await find(client, '/v1/routes')) === undefined) {
    const route = { name: demoName, service_id: serviceId, timeout_ms: 10_000, retry_count: 2 };
    await client.post('/v1/routes', route);
    changed = true;
  }
  return changed;
}
