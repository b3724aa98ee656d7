import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NPM_PACKAGES, packNpmPackage } from '@gateway/tools/build/npm-packages';
import { runOrThrow } from '@gateway/tools/process/run-command';
import { IMAGES, isImageName, type ImageName } from '../images/image.ts';
import { writeApp } from '../images/make-root.ts';
import { pinnedNode } from '../images/pinned-node.ts';
import { thirdPartyPackages, type ThirdPartyPackage } from '../third-party-packages.ts';
import { billOfMaterials } from './bill-of-materials.ts';

export interface ArtefactOptions {
  /** The repository, with everything built. */
  readonly root: string;
  /** An empty folder. */
  readonly output: string;
  readonly version: string;
  /** The time of the files in the archives, ms since the Unix epoch. */
  readonly timeMs: number;
}

const COMMAND_MS = 120_000;
/** The file with the checksums of all others. */
export const SUMS = 'SHA256SUMS';
/** Of `deploy`: what operators use, without what makes, builds and tests it. */
const DEPLOYED =
  /^(compose|grafana|kubernetes|nats|one-machine|postgres|prometheus)([./].*)?(\.(yaml|yml|json|conf|service|sh)|\/Caddyfile)$/;
const NOT_DEPLOYED = /\.test\.yml$|\.build\.yaml$|(^|\/)(secrets\/|local\.conf$)/;

/**
 * Writes the artefacts of a release: an archive of each plane, the npm packages of gwctl and the client, an archive of the deployment files,
 * the OpenAPI document, a bill of materials of each program, and the checksums of all of them. The same commit on the same
 * platform gives the same bytes.
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
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  for (const name of NPM_PACKAGES) await packNpmPackage(name, output);
  await cp(
    path.join(root, 'packages/client/openapi.json'),
    path.join(output, `openapi-${version}.json`),
  );
  const lockfile = await readFile(path.join(root, 'pnpm-lock.yaml'), 'utf8');
  for (const name of Object.keys(IMAGES).filter(isImageName)) {
    const program = { name: programName(name), version, packages: await packagesOf(root, name) };
    const bill = billOfMaterials(program, { lockfile, nodeVersion: pinnedNode() });
    await writeFile(path.join(output, `${programName(name)}-${version}.cdx.json`), bill);
  }
  const files = (await readdir(output)).toSorted();
  await writeFile(path.join(output, SUMS), await checksums(output, files));
  return [...files, SUMS];
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

function programName(name: ImageName): string {
  return name === 'gwctl' ? name : `gateway-${name}`;
}

/** The packages whose code is in a program, or may be. */
async function packagesOf(root: string, name: ImageName): Promise<readonly ThirdPartyPackage[]> {
  const folders = IMAGES[name].licensed.map((folder) => path.join(root, folder));
  const all = await thirdPartyPackages(folders);
  if (name !== 'gwctl') return all;
  // Its bundle says exactly what is in it.
  const licences = path.join(root, 'packages/cli/dist/THIRD-PARTY-LICENSES');
  const bundled = new Set((await readFile(licences, 'utf8')).split('\n'));
  return all.filter((one) => bundled.has(`${one.name} ${one.version}`));
}

/** Packs a folder so that only its content and the time of the release decide about the bytes. */
async function pack(parent: string, name: string, { output, timeMs }: ArtefactOptions) {
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
  await runOrThrow('tar', [...tar, time, '-cf', archive, name], {
    cwd: parent,
    timeoutMs: COMMAND_MS,
  });
  await runOrThrow('gzip', ['-n', '-9', archive], { cwd: parent, timeoutMs: COMMAND_MS });
}

async function checksums(folder: string, files: readonly string[]): Promise<string> {
  const lines = files.map(async (file) => {
    const content = await readFile(path.join(folder, file));
    return `${createHash('sha256').update(content).digest('hex')}  ${file}\n`;
  });
  return (await Promise.all(lines)).join('');
}
