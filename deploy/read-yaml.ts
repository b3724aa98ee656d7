import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

/** The documents of a YAML file beside this one. @throws Error if the YAML is not valid, or has a key twice */
export function readYaml(file: string): unknown[] {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  return parseAllDocuments(text, { merge: true }).map((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw new Error(`${file}: ${problem.message}`);
    return document.toJS() as unknown;
  });
}
