import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ANSWER } from './answer.ts';

/**
 * Replaces the `@NAME@` placeholders of a configuration file and writes the result into a folder.
 *
 * @param values of the placeholders, beside `FOLDER` and `ANSWER`
 * @returns the path of the written file
 */
export async function fillConfig(
  template: URL,
  folder: string,
  values: Readonly<Record<string, string>>,
): Promise<string> {
  const all: Readonly<Record<string, string>> = { FOLDER: folder, ANSWER, ...values };
  const text = (await readFile(template, 'utf8')).replaceAll(
    /@([A-Z_]+)@/g,
    (placeholder, name: string) => all[name] ?? placeholder,
  );
  const target = path.join(folder, path.basename(fileURLToPath(template)));
  await writeFile(target, text);
  return target;
}
