import { stopTestServers } from './global-setup.ts';

/** Stops what the global setup started. */
export default async function globalTeardown(): Promise<void> {
  const stop: unknown = Reflect.get(globalThis, stopTestServers);
  if (typeof stop === 'function') await (stop as () => Promise<void>)();
}
