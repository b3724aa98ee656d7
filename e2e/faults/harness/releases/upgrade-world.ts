import { UndoList } from '@gateway/shared/test/undo-list';
import { startFaultWorld, type FaultWorld } from '../fault-world.ts';
import { openQuotaLoad, type QuotaLoad } from '../quota-load.ts';
import { releaseThatReadsNext, releaseThatWritesNext, type Release } from './copied-release.ts';
import { taggedRelease, thisRelease } from './tagged-release.ts';

export type Part = 'control plane 1' | 'control plane 2' | 'data plane 1' | 'data plane 2';

/** A gateway with two control planes and two data planes, whose processes are replaced by those of another release. */
export interface UpgradeWorld {
  readonly world: FaultWorld;
  /** The release before, which runs at the begin and at the end of each scenario. */
  readonly former: Release;
  readonly next: Release;
  /** Whether the next release writes other formats, and has a migration that the former one does not know. */
  readonly changesFormats: boolean;
  readonly quota: QuotaLoad;
  /** Stops a process, and starts that of the release in its place. */
  replace(part: Part, release: Release): Promise<void>;
  close(): Promise<void>;
}

/** @param ref a commit or tag: the release before this one; without it two copies of this release with other formats */
async function releases(ref: string | undefined, undo: UndoList) {
  const made = async (making: Promise<Release>) => {
    const release = await making;
    undo.add(() => release.remove());
    return release;
  };
  if (ref !== undefined)
    return { former: await made(taggedRelease(ref)), next: await thisRelease() };
  return { former: await made(releaseThatReadsNext()), next: await made(releaseThatWritesNext()) };
}

export async function startUpgradeWorld(): Promise<UpgradeWorld> {
  const undo = new UndoList();
  return undo.orUndo(async () => {
    const { former, next } = await releases(process.env['UPGRADE_FROM'], undo);
    const world = await startFaultWorld({
      controlPlaneStart: { main: former.controlPlane },
      dataPlaneStart: () => ({ main: former.dataPlane }),
    });
    undo.add(() => world.close());
    const quota = await openQuotaLoad(world);
    undo.add(() => quota.close());
    const { stack } = world.gateway;
    let second = await stack.startControlPlane({ main: former.controlPlane });
    return {
      world,
      former,
      next,
      changesFormats: process.env['UPGRADE_FROM'] === undefined,
      quota,
      close: () => undo.run(),
      async replace(part, release) {
        const main = part.startsWith('control') ? release.controlPlane : release.dataPlane;
        if (part === 'control plane 1') {
          await world.controlPlane.stop();
          await world.restartControlPlane({ main });
        } else if (part === 'control plane 2') {
          await second.stop();
          second = await stack.startControlPlane({ main, name: second.name });
        } else {
          const index = part === 'data plane 1' ? 0 : 1;
          await world.dataPlanes[index]?.stop();
          await world.restartDataPlane(index, { main });
        }
      },
    };
  });
}
