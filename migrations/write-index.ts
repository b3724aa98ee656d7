import { readdirSync, writeFileSync } from 'node:fs';

/**
 * Writes index.ts, the list of the migrations in this folder: each plane is bundled into one file, so the list cannot be
 * read when it runs. Numbers may have gaps. A new migration must sort last: databases that have a later one would
 * refuse it (packages/control-plane/src/store/known-migrations.ts).
 */
const names = readdirSync(import.meta.dirname)
  .filter((file) => /^\d{4}_\w+\.ts$/.test(file))
  .map((file) => file.replace('.ts', ''))
  .toSorted();
const variable = (name: string): string => `m${name.slice(0, 4)}`;

const index = `/** Generated from the files of this folder by \`npm run generate\`. */
import type { Migration } from 'kysely/migration';
${names.map((name) => `import * as ${variable(name)} from './${name}.ts';\n`).join('')}
/** Every migration under the name by which the database knows it: that of its file. */
export const migrations: Readonly<Record<string, Migration>> = {
${names.map((name) => `  '${name}': ${variable(name)},\n`).join('')}};
`;
writeFileSync(new URL('index.ts', import.meta.url), index);
