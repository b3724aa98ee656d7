import { startFaultWorld, type FaultWorld } from '../fault-world.ts';
import { openQuotaLoad, type QuotaLoad } from '../quota-load.ts';
import { releaseThatReadsNext, releaseThatWritesNext, type Release } from './copied-release.ts';
import { taggedRelease, thisRelease } from './tagged-release.ts';

/** A gateway with two data planes whose processes are replaced by those of another release, under load. */
export interface UpgradeWorld {
  readonly world: FaultWorld;
  /** The release before, which runs at the begin and at the end of each scenario. */
  readonly former: Release;
  readonly next: Release;
  readonly quota: QuotaLoad;
  close(): Promise<void>;
}

/** @param ref a commit or tag: the release before this one; without it two copies of this release with other formats */
async function releases(ref: string | undefined): Promise<{ former: Release; next: Release }> {
  if (ref !== undefined) return { former: await taggedRelease(ref), next: await thisRelease() };
  return { former: await releaseThatReadsNext(), next: await releaseThatWritesNext() };
}

export async function startUpgradeWorld(): Promise<UpgradeWorld> {
  const undo: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const { former, next } = await releases(process.env['UPGRADE_FROM']);
    undo.push(
      () => former.remove(),
      () => next.remove(),
    );
    const world = await startFaultWorld({
      controlPlaneStart: { main: former.controlPlane },
      dataPlaneStart: () => ({ main: former.dataPlane }),
    });
    undo.push(() => world.close());
    const quota = await openQuotaLoad(world);
    undo.push(() => quota.close());
    return { world, former, next, quota, close };
  } catch (error) {
    await close();
    throw error;
  }
}
