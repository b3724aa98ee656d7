import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ANSWER } from '../load/answer.ts';
import type { Site } from './site.ts';

/**
 * Replaces the `@NAME@` placeholders of a configuration file and writes the result into the run's folder.
 *
 * @param port that the configured server listens on
 * @param further values of placeholders that only this file has
 * @returns the path of the written file
 */
export async function fillConfig(
  template: URL,
  site: Site,
  port: number,
  further: Readonly<Record<string, string>> = {},
): Promise<string> {
  const values: Readonly<Record<string, string>> = {
    PORT: String(port),
    UPSTREAM_PORT: String(site.upstreamPort),
    FOLDER: site.folder,
    ANSWER,
    ...further,
  };
  const text = (await readFile(template, 'utf8')).replaceAll(
    /@([A-Z_]+)@/g,
    (placeholder, name: string) => values[name] ?? placeholder,
  );
  const target = path.join(site.folder, path.basename(fileURLToPath(template)));
  await writeFile(target, text);
  return target;
}
