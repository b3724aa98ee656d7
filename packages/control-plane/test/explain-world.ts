import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import type { Reached } from '../src/data-planes/ask-data-planes.ts';
import { startTestApi, type Answer, type TestApi } from './api.ts';

/** The management API with a route, and data planes that answer what a test says. */
export interface ExplainWorld {
  readonly api: TestApi;
  /** The route `orders` of production. */
  readonly routeId: string;
  /** What the data planes answer. */
  reached: Reached;
  /** What was asked for the last explanation. */
  asked: { readonly id: string; readonly message: string }[];
  explain(body: object, token?: string): Promise<Answer>;
  /** A data plane is live and serves this version of production. */
  beat(id: string, version?: number): void;
}

export async function startExplainWorld(): Promise<ExplainWorld> {
  const api = await startTestApi({
    ask: (id, message) => {
      world.asked.push({ id, message });
      return Promise.resolve(world.reached);
    },
  });
  const service = { name: 'orders', environment: 'production', url: 'https://orders.test' };
  const created = await api.call('POST', '/v1/services', { body: service });
  const route = { name: 'orders', service_id: idOf(created) };
  const routeId = idOf(await api.call('POST', '/v1/routes', { body: route }));
  const world: ExplainWorld = {
    api,
    routeId,
    reached: { kind: 'silent' },
    asked: [],
    explain(body, token) {
      world.asked = [];
      return api.call('POST', `/v1/routes/${routeId}/explain`, { body, ...(token && { token }) });
    },
    beat(id, version = 1) {
      const config_versions = { production: version };
      api.dataPlanes.take(heartbeatOf(id, { config_versions }), api.clock.monotonicMs());
    },
  };
  return world;
}

export const messageOf = ({ json }: Answer) => String(json.error?.['message']);

export function idOf({ json }: Answer): string {
  return (json['data'] as { id: string }).id;
}
