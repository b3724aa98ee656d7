import type { EnvironmentState } from './store/publications.ts';
import { oldObjects } from './old-objects.ts';
import type { PublicationDeps } from './publish-environment.ts';
import { keptEntries } from './snapshot-job.ts';
import { readPublication } from './stored-publication.ts';

type States = readonly EnvironmentState[];

type PruningDeps = Pick<PublicationDeps, 'store' | 'keys' | 'log'>;

/** Removes the log entries and snapshots that no data plane needs: once after a start, and after each new snapshot. */
export class StorePruning {
  readonly #deps: PruningDeps;
  #isDue = true;
  #isFailing = false;

  constructor(deps: PruningDeps) {
    this.#deps = deps;
  }

  /** A new snapshot makes an older one unnecessary. */
  request(): void {
    this.#isDue = true;
  }

  /** Never rejects: if NATS fails, it stays due, and the first failure is logged. */
  async runIfDue(states: States, isStopping: () => boolean): Promise<void> {
    if (!this.#isDue) return;
    // Before it begins, because a snapshot that is stored meanwhile may be missed.
    this.#isDue = false;
    try {
      await this.#run(states, isStopping);
      this.#isFailing = false;
    } catch (error) {
      this.#isDue = true;
      if (!this.#isFailing)
        this.#deps.log.warn({ err: error }, 'old snapshots not removed; retrying');
      this.#isFailing = true;
    }
  }

  async #run(states: States, isStopping: () => boolean): Promise<void> {
    const { store, keys } = this.#deps;
    const versions = new Map<string, number>();
    for (const { environment } of states) {
      const { pointer, tail } = await readPublication(store, environment, keys);
      if (pointer === undefined) continue;
      versions.set(environment, pointer.version);
      await store.trimLog(environment, keptEntries(tail));
    }
    for (const name of oldObjects(await store.listObjects(), versions)) {
      if (isStopping()) return;
      await store.removeObject(name);
    }
  }
}
