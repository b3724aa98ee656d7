import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Content } from './tar.ts';

/** What the Open Container Initiative calls a descriptor: type, SHA-256 and size of a blob. */
export interface Descriptor {
  readonly mediaType: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
}

/** A blob of an image: what describes it, and its bytes. */
export interface Blob {
  readonly descriptor: Descriptor;
  readonly content: Content;
}

/** A layer, and the digest of its tar archive before it was compressed, which the configuration of an image names. */
export interface Layer extends Blob {
  readonly diffId: string;
}

export const MEDIA_TYPES = {
  config: 'application/vnd.oci.image.config.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
} as const;

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

export function blobOf(mediaType: string, content: Buffer): Blob {
  return { descriptor: { mediaType, digest: digestOf(content), size: content.length }, content };
}

/** A document as a blob. The order of its keys decides about its bytes. */
export function jsonBlob(mediaType: string, document: object): Blob {
  return blobOf(mediaType, Buffer.from(JSON.stringify(document)));
}

/**
 * Writes a tar archive to a file, compressed with gzip(1): that of zlib depends on the processor.
 *
 * @param level of compression, 1 to 9
 */
export async function writeLayer(
  file: string,
  archive: AsyncIterable<Buffer>,
  level: number,
): Promise<Layer> {
  const [before, after] = [createHash('sha256'), createHash('sha256')];
  const gzip = spawn('gzip', ['-n', `-${level}`], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(gzip, 'close') as Promise<[number | null]>;
  await Promise.all([
    pipeline(archive, hashed(before), gzip.stdin),
    pipeline(gzip.stdout, hashed(after), createWriteStream(file)),
  ]);
  const [code] = await ended;
  if (code !== 0) throw new Error(`gzip ended with exit code ${code}`);
  const { size } = await stat(file);
  const digest = `sha256:${after.digest('hex')}`;
  return {
    diffId: `sha256:${before.digest('hex')}`,
    descriptor: { mediaType: MEDIA_TYPES.layer, digest, size },
    content: { size, read: () => createReadStream(file) as AsyncIterable<Buffer> },
  };
}

function hashed(hash: ReturnType<typeof createHash>) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
}
