import type { Scene } from '../console/screenshots/scene.ts';

/**
 * What the documentation shows: command lines by the name of their picture, in which one is below the other. Without `gwctl`;
 * single quotes are those of the shell.
 */
export const RECORDINGS: ReadonlyMap<string, (scene: Scene) => readonly string[]> = new Map([
  ['status', () => ['status', 'routes list']],
  [
    'requests',
    ({ retriedId }: Scene) => ['requests list --status 5xx --limit 6', `requests get ${retriedId}`],
  ],
  ['typos', () => ['routs list', 'stats chrages', 'routes update charges --timeout-ms 0']],
]);
