import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { appEntries } from './app-files.ts';
import { baseEntries } from './base-layer.ts';
import { unpackDebian, type DebianOptions, type DebianPackage } from './debian-packages.ts';
import { IMAGES, isImageName, type ImageName } from './image.ts';
import { billOf, programName } from './image-bill.ts';
import { imageConfig, type ImageOrigin } from './image-config.ts';
import { nodeFor } from './node-binary.ts';
import { imageIndex, writeImageArchive, type ImageParts } from './oci/archive.ts';
import { writeLayer, type Layer } from './oci/blob.ts';
import { tar, type Entry } from './oci/tar.ts';
import { PLATFORMS, type Architecture } from './platform.ts';

export interface ImagesOptions extends ImageOrigin {
  /** The folder for the archives. */
  readonly output: string;
  readonly architectures: readonly Architecture[];
  /** The time of all files, ms since the Unix epoch. */
  readonly timeMs: number;
  readonly debian: DebianOptions;
  /** Level of compression, 1 to 9. */
  readonly gzipLevel: number;
}

/** An image of a release: the file `images-<version>.json` lists them. */
export interface WrittenImage {
  readonly name: ImageName;
  readonly reference: string;
  /** The digest of the index of all platforms, under which a registry has the image. */
  readonly digest: string;
  readonly platforms: readonly {
    readonly platform: string;
    /** The digest of its manifest, in that index and in the archive. */
    readonly digest: string;
    readonly archive: string;
    readonly billOfMaterials: string;
  }[];
}

export const IMAGE_NAMES = Object.keys(IMAGES).filter(isImageName);

/** What the images of one platform share. */
interface Base {
  readonly entries: readonly Entry[];
  readonly packages: readonly DebianPackage[];
}

/**
 * Writes an archive of each image for each processor, and its bill of materials beside it. Nothing is run, so each processor can be made on
 * any other. The same commit and the same packages of Debian give the same bytes.
 */
export async function writeImages(options: ImagesOptions): Promise<readonly WrittenImage[]> {
  const { architectures, version } = options;
  const draft = await mkdtemp(path.join(tmpdir(), 'gateway-layers-'));
  const written: (WrittenImage['platforms'][number] & { readonly parts: ImageParts })[] = [];
  try {
    for (const architecture of architectures) {
      const base = await baseOf(architecture, options.debian, draft);
      const layer = await layerOf(base.entries, path.join(draft, `base-${architecture}`), options);
      for (const name of IMAGE_NAMES) {
        const stem = `${programName(name)}-${version}-linux-${architecture}`;
        const bill = await billOf(name, version, base.packages);
        await writeFile(path.join(options.output, `${stem}.cdx.json`), bill);
        const app = await appEntries(name, bill);
        const parts = await writeImageArchive(path.join(options.output, `${stem}.oci.tar`), {
          reference: referenceOf(name, version),
          platform: PLATFORMS[architecture].platform,
          config: imageConfig(name, options),
          layers: [layer, await layerOf(app, path.join(draft, stem), options)],
          timeMs: options.timeMs,
        });
        written.push({
          platform: `linux/${architecture}`,
          digest: parts.manifest.digest,
          archive: `${stem}.oci.tar`,
          billOfMaterials: `${stem}.cdx.json`,
          parts,
        });
      }
    }
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return IMAGE_NAMES.map((name) => {
    const own = written.filter(({ archive }) =>
      archive.startsWith(`${programName(name)}-${version}-`),
    );
    const index = imageIndex(own.map(({ parts }) => parts.manifest));
    const platforms = own.map(({ parts: _parts, ...one }) => one);
    const reference = referenceOf(name, version);
    return { name, reference, digest: index.descriptor.digest, platforms };
  });
}

/** The entries of an image of this processor, for a root file system. */
export async function rootEntries(
  name: ImageName,
  architecture: Architecture,
  { version, debian }: Pick<ImagesOptions, 'version' | 'debian'>,
): Promise<readonly Entry[]> {
  const draft = await mkdtemp(path.join(tmpdir(), 'gateway-root-'));
  try {
    const { entries, packages } = await baseOf(architecture, debian, draft);
    return [...entries, ...(await appEntries(name, await billOf(name, version, packages)))];
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function baseOf(
  architecture: Architecture,
  debian: DebianOptions,
  draft: string,
): Promise<Base> {
  const folder = path.join(draft, `debian-${architecture}`);
  const { root, packages } = await unpackDebian(architecture, folder, debian);
  return { entries: await baseEntries(architecture, await nodeFor(architecture), root), packages };
}

function layerOf(entries: readonly Entry[], file: string, options: ImagesOptions): Promise<Layer> {
  return writeLayer(`${file}.tar.gz`, tar(entries, options.timeMs), options.gzipLevel);
}

function referenceOf(name: ImageName, version: string): string {
  return `gateway/${name}:${version}`;
}
