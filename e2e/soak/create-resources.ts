import type { Client } from '../harness/client.ts';
import { MAX_SMALL_BODY_BYTES } from './call-kinds.ts';
import type { SoakUpstreams } from './upstreams.ts';

const QUOTA_WINDOW_SECONDS = 10;
const QUOTA = 60;
const SHORT_TIMEOUT_MS = 200;

/** Creates the resources that the kinds of callers use. Returns the id of the route that changes during the load. */
export async function createResources(
  admin: Client,
  { good, bad, dead }: SoakUpstreams,
): Promise<{ readonly goodServiceId: string; readonly changedRouteId: string }> {
  const service = async (name: string, url: string): Promise<string> =>
    (await admin.create('/v1/services', { name, environment: 'production', url })).id;
  const route = async (name: string, service_id: string, fields: object = {}): Promise<string> =>
    (await admin.create('/v1/routes', { name, service_id, ...fields })).id;
  const wide = { limit: 1_000_000_000, window_seconds: 60 };

  const goodServiceId = await service('good', good);
  const badId = await service('bad', bad);
  const deadId = await service('dead', dead);
  const changedRouteId = await route('steady', goodServiceId, { rate_limit: wide });
  const limit = { limit: QUOTA, window_seconds: QUOTA_WINDOW_SECONDS };
  await route('limited', goodServiceId, { rate_limit: limit });
  await route('small', goodServiceId, {
    methods: ['POST'],
    max_body_bytes: MAX_SMALL_BODY_BYTES,
    rate_limit: wide,
  });
  await route('short-deadline', goodServiceId, { timeout_ms: SHORT_TIMEOUT_MS, rate_limit: wide });
  await route('bad', badId, { rate_limit: wide });
  await route('dead', deadId, { retry_count: 0, rate_limit: wide });
  return { goodServiceId, changedRouteId };
}
