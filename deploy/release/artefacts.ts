import { cp, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NPM_PACKAGES, packNpmPackage } from '@gateway/tools/build/npm-packages';
import { runOrThrow } from '@gateway/tools/process/run-command';
import { writeApp } from '../images/app-files.ts';
import type { DebianOptions } from '../images/debian-packages.ts';
import { billOf, programName } from '../images/image-bill.ts';
import { IMAGES } from '../images/image.ts';
import type { Architecture } from '../images/platform.ts';
import { IMAGE_NAMES, writeImages } from '../images/write-images.ts';
import { CHART } from '../helm/chart.ts';
import { writeChart } from '../helm/write-chart.ts';
import { writeSums } from './sums.ts';

export interface ArtefactOptions {
  /** The repository, with everything built. */
  readonly root: string;
  /** An empty folder. */
  readonly output: string;
  readonly version: string;
  /** The commit, for the labels of images. */
  readonly revision: string;
  /** The time of the files in the archives, ms since the Unix epoch. */
  readonly timeMs: number;
  /** The processors that images are made for. */
  readonly architectures: readonly Architecture[];
  readonly debian: DebianOptions;
  /** Level of compression of the layers of images, 1 to 9. */
  readonly gzipLevel: number;
}

const COMMAND_MS = 120_000;
/** Of `deploy`: what operators use, without what makes, builds and tests it. */
const DEPLOYED =
  /^(compose|grafana|kubernetes|nats|one-machine|postgres|prometheus|smoke-test)([./].*)?(\.(yaml|yml|json|conf|service|sh)|\/Caddyfile)$/;
const NOT_DEPLOYED = /\.test\.yml$|\.build\.yaml$|(^|\/)(secrets\/|local\.conf$)/;

/**
 * Writes the artefacts of a release: an archive of each plane, the npm packages of gwctl and the client, an archive of the deployment files,
 * the OpenAPI document, a bill of materials of each program, the images, and the checksums of all of them. The same commit with
 * the same packages of Debian gives the same bytes.
 *
 * @returns the names of the files
 * @throws Error with the output of a command that failed
 */
export async function writeArtefacts(options: ArtefactOptions): Promise<readonly string[]> {
  const { root, output, version } = options;
  const draft = await mkdtemp(path.join(tmpdir(), 'gateway-artefacts-'));
  try {
    for (const plane of ['control-plane', 'data-plane'] as const) {
      const name = `gateway-${plane}-${version}`;
      const app = path.join(draft, name);
      await writeApp(plane, app);
      // For images.
      await rm(path.join(app, 'healthcheck.mjs'));
      await writeFile(path.join(app, 'start'), startCommand(plane), { mode: 0o755 });
      await pack(draft, name, options);
    }
    const deployment = `gateway-deploy-${version}`;
    await copyDeployment(root, path.join(draft, deployment));
    await pack(draft, deployment, options);
    await writeChart(draft, version);
    // The name by which Helm knows an archive.
    await pack(draft, CHART, options, `${CHART}-${version}.tgz`);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  for (const name of NPM_PACKAGES) await packNpmPackage(name, output);
  await cp(
    path.join(root, 'packages/client/openapi.json'),
    path.join(output, `openapi-${version}.json`),
  );
  for (const name of IMAGE_NAMES) {
    const bill = await billOf(name, version);
    await writeFile(path.join(output, `${programName(name)}-${version}.cdx.json`), bill);
  }
  const images = `${JSON.stringify(await writeImages(options), undefined, 2)}\n`;
  await writeFile(path.join(output, `images-${version}.json`), images);
  await writeSums(output);
  return (await readdir(output)).toSorted();
}

/** Node with the options that the plane is measured with. */
function startCommand(plane: 'control-plane' | 'data-plane'): string {
  return `#!/bin/sh\nexec node ${IMAGES[plane].nodeArgs.join(' ')} "$(dirname "$0")/main.mjs"\n`;
}

async function copyDeployment(root: string, folder: string): Promise<void> {
  const from = path.join(root, 'deploy');
  const files = (await readdir(from, { recursive: true })).filter(
    (file) => DEPLOYED.test(file) && !NOT_DEPLOYED.test(file) && !file.includes('node_modules'),
  );
  for (const file of files) await cp(path.join(from, file), path.join(folder, 'deploy', file));
  await cp(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
}

/** Packs a folder so that only its content and the time of the release decide about the bytes. */
async function pack(
  parent: string,
  name: string,
  { output, timeMs }: ArtefactOptions,
  file = `${name}.tar.gz`,
): Promise<void> {
  const tar = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u+rwX,go+rX,go-w',
  ];
  const time = `--mtime=@${Math.floor(timeMs / 1000)}`;
  await mkdir(output, { recursive: true });
  const archive = path.join(output, `${name}.tar`);
  const options = { cwd: parent, timeoutMs: COMMAND_MS };
  await runOrThrow('tar', [...tar, time, '-cf', archive, name], options);
  await runOrThrow('gzip', ['-n', '-9', archive], options);
  await rename(`${archive}.gz`, path.join(output, file));
}
