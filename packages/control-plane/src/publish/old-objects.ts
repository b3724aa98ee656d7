/** How many versions of an environment stay readable, for data planes that are still fetching one. */
export const KEPT_VERSIONS = 10;

/** However far behind: as deltas make versions too, the snapshot before the newest may be. */
const KEPT_OBJECTS = 3;

const ATTEMPT = /^(.+)\.(\d{1,15})\.[0-9a-f]+$/;

/**
 * Which objects no data plane can want any more: those at least ten versions behind the published
 * one, and the newest three. A publication under way is always ahead of it. Names that are not ours are
 * left alone.
 *
 * @param publishedVersions environment → the version of its proven pointer.
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
