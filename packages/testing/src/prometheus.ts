import path from 'node:path';
import type { Steps } from '@gateway/tools/debian/packages.mjs';
import { findOnPath } from '@gateway/local-stack/process/find-on-path';
import { unpackedProgram } from './debian-program.ts';

/** The programs of Prometheus for tests, by their paths. */
export interface Prometheus {
  readonly server: string;
  readonly promtool: string;
  readonly blackboxExporter: string;
}

const PROMETHEUS = {
  name: 'prometheus',
  folder: 'prometheus',
  purpose: 'the tests of rules and dashboards',
  program: 'usr/bin/prometheus',
  // Without what they depend on: that is for the pages of the server.
  command: ['download', 'prometheus', 'prometheus-blackbox-exporter'],
  hint: 'install prometheus and its blackbox exporter (Debian: apt-get install prometheus prometheus-blackbox-exporter; other systems: prometheus, promtool and blackbox_exporter on the PATH)',
};
/** Debian gives the exporter another name than its makers. */
const EXPORTERS = ['prometheus-blackbox-exporter', 'blackbox_exporter'];

/** Prometheus: the one on the PATH, else Debian's. @throws {StartError} that says how to install it */
export async function findPrometheus(steps: Steps): Promise<Prometheus> {
  const [server, promtool, blackboxExporter] = await Promise.all([
    findOnPath('prometheus'),
    findOnPath('promtool'),
    firstOnPath(EXPORTERS),
  ]);
  if (server !== undefined && promtool !== undefined && blackboxExporter !== undefined) {
    return { server, promtool, blackboxExporter };
  }
  const folder = path.join(await unpackedProgram(PROMETHEUS, steps), 'usr', 'bin');
  return {
    server: server ?? path.join(folder, 'prometheus'),
    promtool: promtool ?? path.join(folder, 'promtool'),
    blackboxExporter: blackboxExporter ?? path.join(folder, 'prometheus-blackbox-exporter'),
  };
}

async function firstOnPath(names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const found = await findOnPath(name);
    if (found !== undefined) return found;
  }
  return undefined;
}
