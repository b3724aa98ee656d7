import { startUpstream } from '@gateway/shared/test/upstream';
import { countWindows, type WindowCount } from '../../../quota-schedules/granted-windows.ts';
import { startWindowLoad } from '../../../quota-schedules/window-load.ts';
import { startFaultWorld, type FaultWorld } from '../fault-world.ts';
import { releaseThatReadsNext, releaseThatWritesNext, type Release } from './copied-release.ts';
import { taggedRelease, thisRelease } from './tagged-release.ts';

/** A gateway with two data planes whose processes are replaced by those of another release, under load. */
export interface UpgradeWorld {
  readonly world: FaultWorld;
  /** The release before, which runs at the begin and at the end of each scenario. */
  readonly former: Release;
  readonly next: Release;
  /** Calls a route with a quota on both data planes until `stop`, which says what was granted in each window. */
  startQuotaLoad(): { stop(): Promise<readonly WindowCount[]> };
  close(): Promise<void>;
}

export const QUOTA = { limit: 100, window_seconds: 2 };
const ROUTE = 'load-quota';
/** To each of two data planes, so that the quota is used up in each window. */
const PER_SECOND = 60;

/** @param ref a commit or tag: the release before this one; without it two copies of this release with other formats */
async function releases(ref: string | undefined): Promise<{ former: Release; next: Release }> {
  if (ref !== undefined) return { former: await taggedRelease(ref), next: await thisRelease() };
  return { former: await releaseThatReadsNext(), next: await releaseThatWritesNext() };
}

export async function startUpgradeWorld(): Promise<UpgradeWorld> {
  const { former, next } = await releases(process.env['UPGRADE_FROM']);
  const removeBoth = async () => {
    await former.remove();
    await next.remove();
  };
  const arrivals = new Map<string, number>();
  const upstream = await startUpstream(({ url }, response) => {
    const call = new URL(url, 'http://upstream').searchParams.get('call');
    if (call !== null) arrivals.set(call, Date.now());
    response.end('ok');
  });
  try {
    const world = await startFaultWorld({
      controlPlaneStart: { main: former.controlPlane },
      dataPlaneStart: () => ({ main: former.dataPlane }),
    });
    const { id } = await world.gateway.service({ url: upstream.url });
    await world.gateway.route({ name: ROUTE, service_id: id, rate_limit: QUOTA });
    await world.gateway.settled();
    return {
      world,
      former,
      next,
      startQuotaLoad() {
        arrivals.clear();
        const targets = world.dataPlanes.map(({ baseUrl }) => ({ route: ROUTE, baseUrl }));
        const load = startWindowLoad(targets, world.gateway.admin.token, PER_SECOND);
        return {
          stop: async () => countWindows(await load.stop(), arrivals, QUOTA.window_seconds * 1000),
        };
      },
      async close() {
        await world.close();
        await upstream.close();
        await removeBoth();
      },
    };
  } catch (error) {
    await upstream.close();
    await removeBoth();
    throw error;
  }
}
