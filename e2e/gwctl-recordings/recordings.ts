import type { Scene } from '../console/screenshots/scene.ts';

/** Command lines that are shown one below the other. */
export interface Recording {
  readonly name: string;
  /** Without `gwctl`; single quotes are those of the shell. */
  readonly lines: readonly string[];
}

/** What the documentation shows. */
export const recordingsOf = ({ retriedId }: Scene): readonly Recording[] => [
  { name: 'status', lines: ['status', 'routes list'] },
  {
    name: 'requests',
    lines: ['requests list --status 5xx --limit 6', `requests get ${retriedId}`],
  },
  {
    name: 'typos',
    lines: ['routs list', 'stats chrages', 'routes update charges --timeout-ms 0'],
  },
];
