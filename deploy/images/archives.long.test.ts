import { createHash } from 'node:crypto';
import { mkdtemp, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cachePath } from '@gateway/tools/cache-path.mjs';
import { runCommand, runOrThrow } from '@gateway/tools/process/run-command';
import { findDebianTool, type DebianTool } from '@gateway/testing/debian-tool';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildProduct } from '../build-product.ts';
import { imageConfig } from './image-config.ts';
import { IMAGE_UID } from './image.ts';
import { ARCHITECTURES, type Architecture } from './platform.ts';
import { IMAGE_NAMES, writeImages, type WrittenImage } from './write-images.ts';

const IMAGES_MS = 240_000;
const ORIGIN = { version: '7.8.9', revision: '0123456789abcdef' };

let folder: string;
let images: readonly WrittenImage[];
let skopeo: DebianTool;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'image-archives-'));
  await buildProduct();
  skopeo = await findDebianTool('skopeo', 'the tests of images');
  images = await write('first');
}, IMAGES_MS);
afterAll(() => rm(folder, { recursive: true }));

async function write(name: string, architectures: readonly Architecture[] = ARCHITECTURES) {
  const output = path.join(folder, name);
  await mkdir(output);
  return writeImages({
    ...ORIGIN,
    output,
    architectures,
    timeMs: Date.UTC(2026, 0, 2),
    debian: { folder: cachePath('image-packages'), log: () => undefined },
    gzipLevel: 1,
  });
}

async function skopeoOutput(...args: string[]): Promise<string> {
  const options = ['--insecure-policy', '--registries.d', folder, '--tmpdir', folder];
  const env = { PATH: process.env['PATH'], HOME: folder, ...skopeo.env };
  return runOrThrow(skopeo.file, [...options, ...args], { cwd: folder, env, timeoutMs: 60_000 });
}

const archives = ARCHITECTURES.flatMap((architecture) =>
  IMAGE_NAMES.map((name) => ({ name, architecture, platform: `linux/${architecture}` })),
);

function archiveOf({ name, platform }: (typeof archives)[number]) {
  const found = images
    .find((one) => one.name === name)
    ?.platforms.find((one) => one.platform === platform);
  if (found === undefined) throw new Error(`no archive of ${name} for ${platform}`);
  return found;
}

describe.each(archives)('the archive of $name for $platform', (one) => {
  it('is read by skopeo as a layout of OCI, under the listed digest', async () => {
    const { archive, digest } = archiveOf(one);
    const file = `oci-archive:first/${archive}`;
    const raw = await skopeoOutput('inspect', '--raw', file);
    expect(`sha256:${createHash('sha256').update(raw).digest('hex')}`).toBe(digest);
    const inspected = JSON.parse(await skopeoOutput('inspect', file)) as Record<string, unknown>;
    expect(inspected).toMatchObject({ Architecture: one.architecture, Os: 'linux' });
    const config = JSON.parse(await skopeoOutput('inspect', '--raw', '--config', file)) as object;
    expect(config).toMatchObject({ config: imageConfig(one.name, ORIGIN) });
  });

  it('is read as what docker load reads', async () => {
    const { archive } = archiveOf(one);
    const reference = `gateway/${one.name}:${ORIGIN.version}`;
    const source = `docker-archive:first/${archive}:${reference}`;
    const config = JSON.parse(await skopeoOutput('inspect', '--config', source)) as object;
    expect(config).toMatchObject({ config: { User: `${IMAGE_UID}:${IMAGE_UID}` } });
    if (one.name !== 'gwctl') return;
    // Reads every layer, and compares it with its digest in the configuration.
    const target = path.join(folder, `docker-${archive}`);
    await skopeoOutput('copy', source, `dir:${target}`);
    await rm(target, { recursive: true });
  });
});

describe('the images', () => {
  it(
    'are the same bytes if they are made again',
    async () => {
      await write('second', ['arm64']);
      const files = await readdir(path.join(folder, 'second'));
      expect(files).toHaveLength(archives.length);
      for (const file of files) {
        const [first, second] = await Promise.all(
          ['first', 'second'].map((one) => readFile(path.join(folder, one, file))),
        );
        expect(second?.equals(first ?? Buffer.alloc(0))).toBe(true);
      }
      await rm(path.join(folder, 'second'), { recursive: true });
    },
    IMAGES_MS,
  );

  it('share the layer with Node, and are small', async () => {
    const layers = await Promise.all(
      archives.map(async (one) => {
        const { archive } = archiveOf(one);
        const { size } = await stat(path.join(folder, 'first', archive));
        expect(size).toBeLessThan(80e6);
        const inspected = await skopeoOutput('inspect', `oci-archive:first/${archive}`);
        return (JSON.parse(inspected) as { Layers: string[] }).Layers[0];
      }),
    );
    expect(new Set(layers).size).toBe(ARCHITECTURES.length);
  });

  it('have the files of their processor, owned by root but for the data folder', async () => {
    for (const [architecture, machine] of [
      ['amd64', 62],
      ['arm64', 183],
    ] as const) {
      const root = path.join(folder, `root-${architecture}`);
      const { archive } = archiveOf({
        name: 'data-plane',
        architecture,
        platform: `linux/${architecture}`,
      });
      await skopeoOutput('copy', `oci-archive:first/${archive}`, `dir:${root}`);
      const manifest = JSON.parse(await readFile(path.join(root, 'manifest.json'), 'utf8')) as {
        layers: { digest: string }[];
      };
      const listed: string[] = [];
      for (const { digest } of manifest.layers) {
        const layer = path.join(root, digest.slice('sha256:'.length));
        const args = ['--numeric-owner', '-tvzf', layer];
        listed.push(...(await runOrThrow('tar', args, { timeoutMs: 60_000 })).split('\n'));
        await runCommand('tar', ['-xzf', layer, '-C', root, 'usr/local/bin/node'], {
          timeoutMs: 60_000,
        });
      }
      const others = listed.filter((line) => line !== '' && !/^\S+ 0\/0 /.test(line));
      expect(others).toHaveLength(1);
      expect(others[0]).toMatch(/^drwx------ 65532\/65532 .* var\/lib\/gateway\/$/);
      const writable = listed.filter((line) => /^.{8}w/.test(line));
      expect(writable.map((line) => line.replace(/.* /, ''))).toEqual(['tmp/']);
      expect(listed.join('\n')).toMatch(/ app\/packages\/data-plane\/dist\/main\.mjs$/m);
      expect(listed.join('\n')).toMatch(/ usr\/share\/sbom\/gateway-data-plane\.cdx\.json$/m);
      // The machine in the header of an ELF file.
      const node = await readFile(path.join(root, 'usr/local/bin/node'));
      expect(node.readUInt16LE(18)).toBe(machine);
      await rm(root, { recursive: true });
    }
  });

  it('name each package of Debian in their bill of materials', async () => {
    for (const one of archives) {
      const { billOfMaterials } = archiveOf(one);
      const bill = await readFile(path.join(folder, 'first', billOfMaterials), 'utf8');
      const { components } = JSON.parse(bill) as { components: { purl: string }[] };
      const found = components.map(({ purl }) => purl);
      for (const name of ['libc6', 'libstdc++6', 'util-linux']) {
        const purl = new RegExp(
          `^pkg:deb/debian/${name.replaceAll('+', '\\+')}@.*arch=${one.architecture}$`,
        );
        expect(found.filter((text) => purl.test(text))).toHaveLength(1);
      }
    }
  });
});
