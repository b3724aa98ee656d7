import { join } from 'node:path';
import type { Config } from '../config.ts';

/** Bounds that hold for all workers of a process group together. */
const SHARED_BOUNDS = [
  'MAX_IN_FLIGHT_REQUESTS',
  'MAX_CONNECTIONS',
  'MAX_CONNECTIONS_PER_ADDRESS',
  'MAX_UPSTREAM_CONNECTIONS',
  'MAX_PARALLEL_HEALTH_CHECKS',
  'MAX_IDEMPOTENT_WAITERS',
  'MAX_KEPT_BODY_BYTES',
] as const satisfies readonly (keyof Config)[];

/**
 * The settings of one worker of a group: it is a data plane with an id and a folder of its own, and has
 * its part, rounded up, of what bounds the group. Connections are dealt out by turns, so equal parts
 * are what each of them needs. The first worker has the folder of the group, in which a data plane
 * without workers leaves its files.
 *
 * @param config of the group
 * @param worker from 1 to `WORKERS`
 */
export function settingsOfWorker(config: Config, worker: number): Config {
  const bounds = SHARED_BOUNDS.map((name) => [name, Math.ceil(config[name] / config.WORKERS)]);
  return Object.freeze({
    ...config,
    ...(Object.fromEntries(bounds) as Partial<Config>),
    DATA_PLANE_ID: `${config.DATA_PLANE_ID}.${worker}`,
    DATA_PLANE_DATA_DIR: folderOfWorker(config.DATA_PLANE_DATA_DIR, worker),
  });
}

/** Where a worker keeps its last-good configuration and its spool; no two have the same. */
export function folderOfWorker(dir: string, worker: number): string {
  return worker === 1 ? dir : join(dir, `worker-${worker}`);
}

/** The worker that has a folder of this name in the group's, or undefined. */
export function workerOfFolder(name: string): number | undefined {
  const [, digits] = /^worker-([1-9]\d{0,2})$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
