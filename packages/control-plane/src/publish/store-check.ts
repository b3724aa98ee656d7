import type { EnvironmentState } from './store/publications.ts';
import { decidePublication } from './decide-publication.ts';
import type { PublicationDeps } from './publish-environment.ts';
import { objectExists, readPublication } from './stored-publication.ts';

type StoreDeps = Pick<PublicationDeps, 'store' | 'keys'>;

/**
 * Whether an environment must be published again: something of its publication is missing in NATS, does
 * not verify, or does not match Postgres. It takes no lock, so the publication checks it again with one.
 */
export async function isDamaged(
  { store, keys }: StoreDeps,
  { environment, pendingChanges, configVersion }: EnvironmentState,
): Promise<boolean> {
  const { pointer, tail } = await readPublication(store, environment, keys);
  const decision = decidePublication({
    pendingChanges,
    configVersion,
    servedVersion: 0,
    pointer,
    tail,
    objectExists: await objectExists(store, pointer),
    requiredKeyId: undefined,
    isCompiledAlike: true,
  });
  return decision.publish;
}
