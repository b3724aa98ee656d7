import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CHART, makeChart } from './chart.ts';

/** Writes the chart into a folder of its name. @returns that folder */
export async function writeChart(parent: string, version: string): Promise<string> {
  const folder = path.join(parent, CHART);
  for (const [name, text] of makeChart(version).files) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  return folder;
}
