import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../harness/client.ts';

export interface ChangeOptions {
  readonly admin: Client;
  readonly goodServiceId: string;
  readonly upstreamUrl: string;
  readonly changedRouteId: string;
  readonly signal: AbortSignal;
}

/** Changes of the configuration during the load. */
export interface Changes {
  /** A valid secret. After a rotation it changes when every data plane has had time to receive the new one. */
  token(): string;
  /** The number of changes, and of rotations among them. */
  readonly counts: { readonly changes: number; readonly rotations: number };
  /** Rejects if the management API refused a valid change. */
  readonly ended: Promise<void>;
}

const EVERY_MS = 1000;
const ROTATE_EVERY = 10;
const GRACE_SECONDS = 5;
/** More than the time that a change takes to reach the data planes. */
const RECEIVED_MS = 2000;

/**
 * Makes a change every second until the signal: a field of a route under load, a service with a
 * route that is created or deleted, or a token. Every tenth change rotates the secret of the load.
 */
export async function startChanges(options: ChangeOptions): Promise<Changes> {
  const { admin, signal } = options;
  const loadToken = await admin.create('/v1/tokens', {
    name: 'load',
    environments: ['production'],
    scopes: ['proxy', 'routes:read'],
  });
  let secret = String(loadToken['secret']);
  const counts = { changes: 0, rotations: 0 };

  async function patch(path: string, body: unknown): Promise<void> {
    const answer = await admin.patch(path, body);
    if (answer.status !== 200) throw new Error(`PATCH ${path}: ${answer.status} ${answer.body}`);
  }

  async function remove(path: string): Promise<void> {
    const answer = await admin.delete(path);
    if (answer.status !== 204) throw new Error(`DELETE ${path}: ${answer.status} ${answer.body}`);
  }

  async function rotate(): Promise<void> {
    const body = { grace_seconds: GRACE_SECONDS };
    const answer = await admin.post(`/v1/tokens/${loadToken.id}/rotate`, body);
    if (answer.status !== 200) throw new Error(`rotation: ${answer.status} ${answer.body}`);
    await delay(RECEIVED_MS);
    secret = String(answer.resource()['secret']);
    counts.rotations += 1;
  }

  async function createAndDeleteRoute(count: number): Promise<void> {
    const fields = { name: `passing-${count}`, environment: 'production' };
    const service = await admin.create('/v1/services', { ...fields, url: options.upstreamUrl });
    const body = { name: `passing-${count}`, service_id: service.id };
    const route = await admin.create('/v1/routes', body);
    await delay(RECEIVED_MS);
    await admin.proxy(`passing-${count}`);
    await remove(`/v1/routes/${route.id}`);
    await remove(`/v1/services/${service.id}`);
  }

  async function createAndRevokeToken(count: number): Promise<void> {
    const body = { name: `passing-${count}`, environments: ['production'], scopes: ['proxy'] };
    const token = await admin.create('/v1/tokens', body);
    await delay(RECEIVED_MS);
    await admin.withToken(String(token['secret'])).proxy('steady');
    await remove(`/v1/tokens/${token.id}`);
  }

  async function run(): Promise<void> {
    for (let count = 1; !signal.aborted; count += 1) {
      if (count % ROTATE_EVERY === 0) await rotate();
      else if (count % 3 === 0) await createAndDeleteRoute(count);
      else if (count % 3 === 1) await createAndRevokeToken(count);
      else {
        const timeout_ms = 10_000 + (count % 100);
        await patch(`/v1/routes/${options.changedRouteId}`, { timeout_ms });
        await patch(`/v1/services/${options.goodServiceId}`, {
          health_check: { interval_ms: 5000 + (count % 100) },
        });
      }
      counts.changes += 1;
      await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  return { token: () => secret, counts, ended: run() };
}
