import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { runOrThrow } from '@gateway/tools/process/run-command';
import { parse } from 'yaml';
import { z } from 'zod';
import { imageIndex, layoutFiles } from '../../images/oci/archive.ts';
import { blobOf, jsonBlob, MEDIA_TYPES, writeLayer, type Blob } from '../../images/oci/blob.ts';
import { tar, type Entry } from '../../images/oci/tar.ts';
import { withParents } from '../../images/base-layer.ts';
import { CHART } from '../../helm/chart.ts';

/** A folder in the layout of OCI that skopeo copies to a registry. */
export interface Layout {
  /** The name of the repository, such as `data-plane`. */
  readonly name: string;
  readonly folder: string;
  /** What a registry has it under. */
  readonly digest: string;
}

export interface ReleaseFolder {
  /** The folder with the artefacts. */
  readonly folder: string;
  readonly version: string;
}

const TAR_MS = 120_000;
const GZIP_LEVEL = 9;
const platform = z.object({ os: z.literal('linux'), architecture: z.enum(['amd64', 'arm64']) });
const descriptor = z.object({ mediaType: z.string(), digest: z.string(), size: z.int(), platform });
const index = z.object({ manifests: z.tuple([descriptor]) });
const images = z.array(
  z.object({
    name: z.string(),
    digest: z.string(),
    platforms: z.array(z.object({ archive: z.string() })),
  }),
);

/**
 * Makes a layout of each image, with the index of its platforms, of the archives of a release.
 *
 * @throws Error if the index has another digest than the release says
 */
export async function imageLayouts(
  { folder, version }: ReleaseFolder,
  output: string,
): Promise<readonly Layout[]> {
  const text = await readFile(path.join(folder, `images-${version}.json`), 'utf8');
  const layouts: Layout[] = [];
  for (const { name, digest, platforms } of images.parse(JSON.parse(text))) {
    const layout = path.join(output, name);
    await mkdir(layout, { recursive: true });
    const manifests = [];
    for (const { archive } of platforms) {
      // index.json is replaced by each archive, and by the index of all at the end.
      const args = ['-xf', path.join(folder, archive), '-C', layout];
      await runOrThrow('tar', args, { timeoutMs: TAR_MS });
      const own: unknown = JSON.parse(await readFile(path.join(layout, 'index.json'), 'utf8'));
      manifests.push(...index.parse(own).manifests);
    }
    await rm(path.join(layout, 'manifest.json'), { force: true });
    const root = imageIndex(manifests);
    if (root.descriptor.digest !== digest) {
      throw new Error(`${name} has the digest ${root.descriptor.digest}, not ${digest}`);
    }
    await writeLayout(layout, root, version, []);
    layouts.push({ name, folder: layout, digest });
  }
  return layouts;
}

/** The chart as an artefact of a registry, as `helm push` stores it. */
export async function chartLayout(release: ReleaseFolder, output: string): Promise<Layout> {
  const { folder, version } = release;
  const archive = path.join(folder, `${CHART}-${version}.tgz`);
  const args = ['-xzOf', archive, `${CHART}/Chart.yaml`];
  const chart: unknown = parse(await runOrThrow('tar', args, { timeoutMs: TAR_MS }));
  const config = jsonBlob('application/vnd.cncf.helm.config.v1+json', chart as object);
  const layer = blobOf(
    'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
    await readFile(archive),
  );
  return artefactLayout(CHART, version, config, layer, output);
}

/** The deployment files as an artefact of a registry, which Flux and Argo CD read manifests from. */
export async function manifestsLayout(
  { folder, version }: ReleaseFolder,
  output: string,
  timeMs: number,
): Promise<Layout> {
  const name = 'gateway-deploy';
  const draft = await mkdtemp(path.join(output, 'draft-'));
  try {
    const archive = path.join(folder, `${name}-${version}.tar.gz`);
    const args = ['-xzf', archive, '--strip-components=1', '-C', draft];
    await runOrThrow('tar', args, { timeoutMs: TAR_MS });
    const entries = await filesOf(draft);
    const file = path.join(output, `${name}.tar.gz`);
    const layer = await writeLayer(file, tar(entries, timeMs), GZIP_LEVEL);
    const mediaType = 'application/vnd.cncf.flux.content.v1.tar+gzip';
    const content = await readFile(file);
    await rm(file);
    const config = jsonBlob('application/vnd.cncf.flux.config.v1+json', {});
    const blob = { descriptor: { ...layer.descriptor, mediaType }, content };
    return await artefactLayout(name, version, config, blob, output);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function filesOf(folder: string): Promise<Entry[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found
    .filter((one) => one.isFile())
    .map(async (one): Promise<Entry> => {
      const file = path.join(one.parentPath, one.name);
      const mode = file.endsWith('.sh') ? 0o755 : 0o644;
      return { path: path.relative(folder, file), mode, content: await readFile(file) };
    });
  return withParents(await Promise.all(files));
}

async function artefactLayout(
  name: string,
  version: string,
  config: Blob,
  layer: Blob,
  output: string,
): Promise<Layout> {
  const manifest = jsonBlob(MEDIA_TYPES.manifest, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: config.descriptor,
    layers: [layer.descriptor],
  });
  const folder = path.join(output, name);
  await writeLayout(folder, manifest, version, [config, layer]);
  return { name, folder, digest: manifest.descriptor.digest };
}

async function writeLayout(folder: string, root: Blob, tag: string, blobs: readonly Blob[]) {
  for (const [name, { content }] of layoutFiles(root, tag, blobs)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    if (Buffer.isBuffer(content)) await writeFile(file, content);
    else await pipeline(content.read(), createWriteStream(file));
  }
}
