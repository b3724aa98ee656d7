import { snapshotObject } from '@gateway/shared/messaging/names';

/** How many versions of an environment stay readable, for data planes that are still fetching one. */
export const KEPT_VERSIONS = 10;

/**
 * The name of the object of one attempt to publish a version. The nonce keeps two publishers, of
 * which one has lost its lock, from writing over each other's object.
 */
export function attemptObject(environment: string, version: number, nonce: string): string {
  return `${snapshotObject(environment, version)}.${nonce}`;
}

const ATTEMPT = /^(.+)\.(\d{1,15})\.[0-9a-f]+$/;

/**
 * Which objects no data plane can want any more: those at least ten versions behind the published
 * one. A publication under way is always ahead of it. Names that are not ours are left alone.
 *
 * @param publishedVersions environment → the version of its proven pointer.
 */
export function oldObjects(
  names: readonly string[],
  publishedVersions: ReadonlyMap<string, number>,
): readonly string[] {
  return names.filter((name) => {
    const [, environment, version] = ATTEMPT.exec(name) ?? [];
    if (environment === undefined) return false;
    const published = publishedVersions.get(environment);
    return published !== undefined && Number(version) <= published - KEPT_VERSIONS;
  });
}
