const UNRELEASED = /^## Unreleased\n/m;
const DATE_LENGTH = '2026-11-30'.length;

/**
 * The changelog in which the unreleased changes are those of this version.
 *
 * @param date of the release, such as 2026-11-30
 * @throws Error if there are no unreleased changes, or the version has an entry already
 */
export function releasedChangelog(text: string, version: string, date: string): string {
  const [heading = ''] = UNRELEASED.exec(text) ?? [];
  const [, behind = ''] = text.split(UNRELEASED);
  const [changes = ''] = behind.split(/^## /m);
  if (heading === '' || changes.trim() === '') {
    throw new Error('CHANGELOG.md has no unreleased changes; write them below "## Unreleased"');
  }
  if (releaseTimeMs(text, version) !== undefined) {
    throw new Error(`CHANGELOG.md has an entry of ${version} already`);
  }
  return text.replace(heading, `## Unreleased\n\n## ${version} - ${date}\n`);
}

/** When a version was released, ms since the Unix epoch, at midnight UTC; undefined if it was not yet. */
export function releaseTimeMs(text: string, version: string): number | undefined {
  const heading = text.split('\n').find((line) => line.startsWith(`## ${version} - `));
  return heading === undefined ? undefined : Date.parse(heading.slice(-DATE_LENGTH));
}

/** The changes of a released version, as its entry has them below its heading; undefined if it has none. */
export function changesOf(text: string, version: string): string | undefined {
  const entries = text.split(/^(?=## )/m);
  const entry = entries.find((one) => one.startsWith(`## ${version} - `));
  return entry === undefined ? undefined : `${entry.slice(entry.indexOf('\n')).trim()}\n`;
}
