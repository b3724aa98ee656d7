import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { blobOf, jsonBlob, MEDIA_TYPES, type Blob, type Descriptor, type Layer } from './blob.ts';
import { tar, type Entry } from './tar.ts';

/** A processor, in Go's names, which images use. */
export interface Platform {
  readonly os: 'linux';
  readonly architecture: 'amd64' | 'arm64';
}

/** An image for one platform. */
export interface Image {
  /** Such as `gateway/data-plane:1.2.3`. */
  readonly reference: string;
  readonly platform: Platform;
  /** Of its configuration, what the program needs: `Env`, `Entrypoint`, `User` and so on. */
  readonly config: object;
  readonly layers: readonly Layer[];
  /** ms since the Unix epoch. */
  readonly timeMs: number;
}

/** Where the parts of an image are: the descriptor of its manifest, and every blob. */
export interface ImageParts {
  readonly manifest: Descriptor & { readonly platform: Platform };
  readonly config: Descriptor;
  readonly blobs: readonly Blob[];
}

const LAYOUT = Buffer.from('{"imageLayoutVersion":"1.0.0"}');
const FILE = 0o644;
const FOLDER = 0o755;

/** The configuration and the manifest of an image, with its layers. */
function imageParts(image: Image): ImageParts {
  const created = new Date(image.timeMs).toISOString();
  const config = jsonBlob(MEDIA_TYPES.config, {
    created,
    ...image.platform,
    config: image.config,
    rootfs: { type: 'layers', diff_ids: image.layers.map((layer) => layer.diffId) },
    history: image.layers.map(() => ({ created, created_by: 'npm run release' })),
  });
  const manifest = jsonBlob(MEDIA_TYPES.manifest, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: config.descriptor,
    layers: image.layers.map((layer) => layer.descriptor),
  });
  return {
    manifest: { ...manifest.descriptor, platform: image.platform },
    config: config.descriptor,
    blobs: [config, manifest, ...image.layers],
  };
}

/** The index that names the manifest of an image for each platform: what a tag of a registry points at. */
export function imageIndex(manifests: readonly ImageParts['manifest'][]): Blob {
  return jsonBlob(MEDIA_TYPES.index, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.index,
    // Key by key: their order decides about the digest.
    manifests: manifests.map(({ mediaType, digest, size, platform }) => ({
      mediaType,
      digest,
      size,
      platform: { architecture: platform.architecture, os: platform.os },
    })),
  });
}

/**
 * Writes an image as an archive which is both: an image layout of the Open Container Initiative, which skopeo, podman, crane and
 * containerd read, and with its `manifest.json` what `docker load` reads.
 *
 * @see https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md
 */
export async function writeImageArchive(file: string, image: Image): Promise<ImageParts> {
  const parts = imageParts(image);
  const { reference } = image;
  const annotations = {
    // The name that containerd gives the image, and so a Docker that keeps its images there.
    'io.containerd.image.name': `docker.io/${reference}`,
    'org.opencontainers.image.ref.name': reference.slice(reference.lastIndexOf(':') + 1),
  };
  const index = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.index,
    manifests: [{ ...parts.manifest, annotations }],
  };
  const ofDocker = [
    {
      Config: blobPath(parts.config),
      RepoTags: [reference],
      Layers: image.layers.map((layer) => blobPath(layer.descriptor)),
    },
  ];
  const files = new Map([
    ['index.json', Buffer.from(JSON.stringify(index))],
    ['manifest.json', Buffer.from(JSON.stringify(ofDocker))],
  ]);
  await pipeline(tar(layoutEntries(files, parts.blobs), image.timeMs), createWriteStream(file));
  return parts;
}

function layoutEntries(files: ReadonlyMap<string, Buffer>, blobs: readonly Blob[]): Entry[] {
  // Layers that are alike are one blob.
  const contents = new Map(blobs.map((blob) => [blobPath(blob.descriptor), blob.content]));
  const small = [...files, ['oci-layout', LAYOUT] as const];
  return [
    ...small.map(([path, content]) => ({ path, mode: FILE, content })),
    { path: 'blobs', mode: FOLDER, isFolder: true },
    { path: 'blobs/sha256', mode: FOLDER, isFolder: true },
    ...[...contents].toSorted(byPath).map(([path, content]) => ({ path, mode: FILE, content })),
  ];
}

function byPath([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** Where a layout has a blob. */
function blobPath({ digest }: Pick<Descriptor, 'digest'>): string {
  return `blobs/${digest.replace(':', '/')}`;
}

/** An image layout with one index or manifest, as the files of a folder by their paths. */
export function layoutFiles(
  root: Blob,
  tag: string,
  blobs: readonly Blob[],
): ReadonlyMap<string, Blob> {
  const annotations = { 'org.opencontainers.image.ref.name': tag };
  const index = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.index,
    manifests: [{ ...root.descriptor, annotations }],
  };
  const all = [root, ...blobs].map((blob) => [blobPath(blob.descriptor), blob] as const);
  return new Map([
    ...all,
    ['index.json', jsonBlob(MEDIA_TYPES.index, index)],
    ['oci-layout', blobOf('application/json', LAYOUT)],
  ]);
}
