import { readdirSync } from 'node:fs';

const FOLDER = new URL('../../../docs/use/policies/', import.meta.url);

/** The pages of the policies, which have tables of fields. */
export function fieldPages(): readonly URL[] {
  return readdirSync(FOLDER).map((file) => new URL(file, FOLDER));
}
