import path from 'node:path';
import type { Steps } from '../src/debian/download-packages.ts';
import { findOnPath } from '../src/process/find-on-path.ts';
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
  hint: 'install prometheus and its blackbox exporter (Debian: apt-get install prometheus prometheus-blackbox-exporter)',
};
/** Their names in Debian. */
const PROGRAMS = ['prometheus', 'promtool', 'prometheus-blackbox-exporter'] as const;

/** Prometheus: the one on the PATH, else Debian's. @throws {StartError} that says how to install it */
export async function findPrometheus(steps: Steps): Promise<Prometheus> {
  const installed = await Promise.all(PROGRAMS.map((name) => findOnPath(name)));
  const [server, promtool, blackboxExporter] = installed;
  if (server !== undefined && promtool !== undefined && blackboxExporter !== undefined) {
    return { server, promtool, blackboxExporter };
  }
  const folder = path.join(await unpackedProgram(PROMETHEUS, steps), 'usr', 'bin');
  const [ofServer, ofPromtool, ofExporter] = PROGRAMS.map((name) => path.join(folder, name));
  return {
    server: server ?? String(ofServer),
    promtool: promtool ?? String(ofPromtool),
    blackboxExporter: blackboxExporter ?? String(ofExporter),
  };
}
