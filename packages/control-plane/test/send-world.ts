import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { startUpstream, type SeenRequest, type TestUpstream } from '@gateway/shared/test/upstream';
import type { ServerResponse } from 'node:http';
import {
  startTestApi,
  type Answer,
  type CallOptions,
  type TestApi,
  type TestApiOptions,
} from './api.ts';
import { cookieOf, CSRF, signIn } from './console.ts';

/** A management API that sends requests of the console to a server which stands in for the data planes. */
export interface SendWorld {
  readonly api: TestApi;
  readonly dataPlane: TestUpstream;
  /** The routes `charges` and `refunds` of production, and `charges` of development. */
  readonly routes: Readonly<Record<'charges' | 'refunds' | 'dev', string>>;
  /** Signs in with a token, by default that of the admin. Returns the cookie. */
  session(token?: string): Promise<string>;
  /** Sends through `charges`, by default a GET without a token. */
  send(cookie: string, body?: object, options?: CallOptions): Promise<Answer>;
  /** Until the returned function is called, publishes what changes and lets a data plane serve it. */
  serveChanges(): Promise<() => Promise<void>>;
  /** The value of a metric, with its labels as text. */
  metric(name: string): Promise<string | undefined>;
  close(): Promise<void>;
}

export async function startSendWorld(
  answer?: (seen: SeenRequest, response: ServerResponse) => void,
  { isConfigured = true, ...options }: TestApiOptions & { readonly isConfigured?: boolean } = {},
): Promise<SendWorld> {
  const dataPlane = await startUpstream(answer);
  const known = isConfigured ? { dataPlaneUrl: dataPlane.url } : {};
  const api = await startTestApi({ ...known, ...options });
  const made = async (path: string, body: object): Promise<string> => {
    const { json, text } = await api.call('POST', path, { body });
    if (json.data === undefined) throw new Error(text);
    return json.data.id;
  };
  const serviceIn = (environment: string) =>
    made('/v1/services', { name: 'pay', environment, url: 'http://pay.example' });
  const service_id = await serviceIn('production');
  const match = [{ hosts: ['api.example', '*.shop.example'] }];
  const routes = {
    charges: await made('/v1/routes', { name: 'charges', service_id, match }),
    refunds: await made('/v1/routes', { name: 'refunds', service_id, auth: { type: 'api_key' } }),
    dev: await made('/v1/routes', { name: 'charges', service_id: await serviceIn('development') }),
  };

  async function serve(): Promise<void> {
    const config_versions = {
      production: await api.publish('production'),
      development: await api.publish('development'),
    };
    api.dataPlanes.take(heartbeatOf('dp', { config_versions }), api.clock.monotonicMs());
  }

  return {
    api,
    dataPlane,
    routes,
    session: async (token = api.adminToken) => cookieOf(await signIn(api, token)),
    send: (cookie, body = {}, given = {}) =>
      api.call('POST', '/console/send', {
        token: null,
        body: { route_id: routes.charges, method: 'GET', token: 'none', ...body },
        ...given,
        headers: { cookie, ...CSRF, ...given.headers },
      }),
    async serveChanges() {
      const state = { isOver: false };
      await serve();
      const serving = (async () => {
        while (!state.isOver) {
          await serve();
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      return () => {
        state.isOver = true;
        return serving;
      };
    },
    async metric(name) {
      const text = await api.registry.metrics();
      return text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length + 1);
    },
    async close() {
      await api.close();
      await dataPlane.close();
    },
  };
}

/** The code of an error, with its status. */
export function codeOf({ status, json }: Answer): unknown[] {
  return [status, json.error?.['code']];
}
