/** Snapshots of this many versions stay readable, for data planes that are downloading one. */
export const KEPT_VERSIONS = 10;

/** The newest snapshots stay however old their versions are, because deltas create versions too. */
const KEPT_OBJECTS = 3;

const ATTEMPT = /^(.+)\.(\d{1,15})\.[0-9a-f]+$/;

/**
 * The snapshots that no data plane needs: those at least ten versions behind the published one, except
 * for the newest three. A running publication is always ahead of it. Unknown names are ignored.
 *
 * @param publishedVersions environment → the version of its verified pointer.
 */
export function oldObjects(
  names: readonly string[],
  publishedVersions: ReadonlyMap<string, number>,
): readonly string[] {
  const byEnvironment = new Map<string, { name: string; version: number }[]>();
  for (const name of names) {
    const [, environment, version] = ATTEMPT.exec(name) ?? [];
    if (environment === undefined) continue;
    const known = byEnvironment.get(environment) ?? [];
    known.push({ name, version: Number(version) });
    byEnvironment.set(environment, known);
  }
  return [...byEnvironment].flatMap(([environment, objects]) => {
    const published = publishedVersions.get(environment);
    if (published === undefined) return [];
    return objects
      .toSorted((a, b) => b.version - a.version)
      .slice(KEPT_OBJECTS)
      .filter(({ version }) => version <= published - KEPT_VERSIONS)
      .map(({ name }) => name);
  });
}
