import { readFileSync } from 'node:fs';

const PAGE = new URL('../../../docs/use/policies/paths-and-methods.md', import.meta.url);
const ROW = /^\| (?<form>[^|]+?) +\| `(?<example>(?:[^`|]|\\\|)+)` +\| (?<result>[^|]+?) +\|/gm;

/** A row of the table of paths in docs/use/policies/paths-and-methods.md. */
export interface DocumentedPath {
  readonly form: string;
  readonly example: string;
  /** `forwarded`, or the reason of the refusal. */
  readonly result: string;
}

/** The forms of paths that the documentation lists. */
export function documentedPaths(): DocumentedPath[] {
  return [...readFileSync(PAGE, 'utf8').matchAll(ROW)]
    .map(({ groups }) => groups as unknown as DocumentedPath)
    .map((row) => ({ ...row, example: row.example.replaceAll('\\|', '|') }))
    .filter(({ example }) => example.startsWith('/'));
}
