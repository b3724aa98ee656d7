import { join } from 'node:path';

/** Limits that apply to all workers of a group together. */
const SHARED_LIMITS = [
  'MAX_IN_FLIGHT_REQUESTS',
  'MAX_WEBSOCKETS',
  'MAX_PASS_THROUGH_REQUESTS',
  'MAX_UNAUTHENTICATED_REQUESTS',
  'MAX_CONNECTIONS',
  'MAX_CONNECTIONS_PER_ADDRESS',
  'MAX_UPSTREAM_CONNECTIONS',
  'MAX_PARALLEL_HEALTH_CHECKS',
  'MAX_IDEMPOTENT_WAITERS',
  'MAX_KEPT_BODY_BYTES',
  'MAX_MIRRORED_REQUESTS',
  'MAX_MIRRORED_BODY_BYTES',
] as const;

type SharedLimits = Readonly<Record<(typeof SHARED_LIMITS)[number], number>>;

/** The settings of a group that differ in its workers. */
export interface GroupSettings extends SharedLimits {
  readonly WORKERS: number;
  readonly DATA_PLANE_ID: string;
  readonly DATA_PLANE_DATA_DIR: string;
}

/**
 * The settings of one worker of a group. A worker is a data plane with its own id and folder, and gets an equal share,
 * rounded up, of the limits of the group, because connections are assigned in turn. The first worker uses the folder of
 * the group, in which a data plane without workers keeps its files.
 *
 * @param settings of the group
 * @param worker from 1 to `WORKERS`
 */
export function settingsOfWorker<Settings extends GroupSettings>(
  settings: Settings,
  worker: number,
): Settings {
  const shares = SHARED_LIMITS.map((name) => [name, Math.ceil(settings[name] / settings.WORKERS)]);
  return Object.freeze({
    ...settings,
    ...(Object.fromEntries(shares) as SharedLimits),
    DATA_PLANE_ID: `${settings.DATA_PLANE_ID}.${worker}`,
    DATA_PLANE_DATA_DIR: folderOfWorker(settings.DATA_PLANE_DATA_DIR, worker),
  });
}

/** The folder in which a worker keeps its last-good configuration and its spool; each worker has its own. */
export function folderOfWorker(dir: string, worker: number): string {
  return worker === 1 ? dir : join(dir, `worker-${worker}`);
}

/** The number of the worker that uses a folder of this name, or undefined. */
export function workerOfFolder(name: string): number | undefined {
  const [, digits] = /^worker-([1-9]\d{0,2})$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
