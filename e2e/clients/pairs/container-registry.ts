import { createHash, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startRegistry } from '@gateway/testing/container-registry';
import type { Pair, StartedServer, Target } from '../harness/pair.ts';
import { startInFolder } from '../harness/in-folder.ts';
import { findProgram, runProgram, withFolder } from '../harness/program.ts';

const LAYER_BYTES = 8_000_000;
const TYPE = 'application/vnd.oci.image';

/**
 * skopeo and a registry of images. Its protocol has fixed paths, so it needs a host of its own; an upload goes on at the
 * address in `Location`, which the registry makes of the forwarded fields.
 */
export const skopeo: Pair = {
  client: 'skopeo',
  version: 'of the system',
  reach: 'host',
  start,
  direct: {
    'copy an image to the registry': 'done',
    'copy it from the registry': 'done',
    'list tags': '1.0',
    delete: 'done',
  },
  otherwise: {},
};

async function start(): Promise<StartedServer> {
  return startInFolder(async (folder) => {
    const { url, stop } = await startRegistry(folder);
    return {
      urls: [url],
      // The client takes a Bearer challenge for the address of a token server, so the registry must know its callers.
      route: { auth: { type: 'none' }, max_body_bytes: 4 * LAYER_BYTES },
      use,
      close: stop,
    };
  });
}

async function use({ url }: Target) {
  const program = await findProgram('skopeo');
  return withFolder(async (folder) => {
    await writeImage(path.join(folder, 'image'));
    const image = `docker://${new URL(url).host}/demo:1.0`;
    const run = async (...args: string[]) => {
      const all = ['--insecure-policy', '--registries.d', folder, '--tmpdir', folder, ...args];
      const { code, output } = await runProgram(program, all, folder);
      return { isDone: code === 0, output };
    };
    const done = async (...args: string[]) => {
      const { isDone, output } = await run(...args);
      return isDone ? 'done' : output;
    };
    const name = image.replace(/:1\.0$/, '');
    return {
      'copy an image to the registry': await done(
        'copy',
        '--dest-tls-verify=false',
        'oci:image',
        image,
      ),
      'copy it from the registry': await done('copy', '--src-tls-verify=false', image, 'dir:copy'),
      'list tags': await run('list-tags', '--tls-verify=false', name).then(({ isDone, output }) =>
        isDone ? (JSON.parse(output) as { Tags: string[] }).Tags.join() : output,
      ),
      delete: await done('delete', '--tls-verify=false', image),
    };
  });
}

/** An image of one layer in the layout of the Open Container Initiative. */
async function writeImage(folder: string): Promise<void> {
  const blobs = path.join(folder, 'blobs', 'sha256');
  await mkdir(blobs, { recursive: true });
  const write = async (mediaType: string, content: Buffer | object) => {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
    const name = createHash('sha256').update(bytes).digest('hex');
    await writeFile(path.join(blobs, name), bytes);
    return { mediaType, digest: `sha256:${name}`, size: bytes.length };
  };
  const layer = await write(`${TYPE}.layer.v1.tar`, randomBytes(LAYER_BYTES));
  const config = await write(`${TYPE}.config.v1+json`, {
    architecture: 'amd64',
    os: 'linux',
    config: {},
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
  });
  const manifest = await write(`${TYPE}.manifest.v1+json`, {
    schemaVersion: 2,
    mediaType: `${TYPE}.manifest.v1+json`,
    config,
    layers: [layer],
  });
  const index = JSON.stringify({ schemaVersion: 2, manifests: [manifest] });
  await writeFile(path.join(folder, 'index.json'), index);
  await writeFile(path.join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
}
