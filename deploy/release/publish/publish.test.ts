import { generateKeyPairSync } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findKubernetesTools } from '@gateway/testing/kubernetes-tools';
import { findDebianTool } from '@gateway/testing/debian-tool';
import { startRegistry, type Registry } from '@gateway/testing/container-registry';
import { runCommand, runOrThrow } from '@gateway/tools/process/run-command';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { CHART } from '../../helm/chart.ts';
import { writeChart } from '../../helm/write-chart.ts';
import { imageIndex, writeImageArchive } from '../../images/oci/archive.ts';
import { writeLayer } from '../../images/oci/blob.ts';
import { tar } from '../../images/oci/tar.ts';
import { ARCHITECTURES } from '../../images/platform.ts';
import { publicKeyOf, signFile, writePublicKey } from '../signature/minisign.ts';
import { SUMS, writeSums } from '../sums.ts';
import { publish, type PublishOptions } from './publish.ts';

const VERSION = '7.8.9';
const TIME_MS = Date.UTC(2026, 0, 2);
const CHANGELOG = `# Changelog\n\n## ${VERSION} - 2026-01-02\n\n- A change.\n\n## 7.8.8 - 2026-01-01\n\n- Old.\n`;

let folder: string;
let registry: Registry;
let indexDigest: string;
let publicKey: string;
let skopeo: { readonly file: string; readonly env: NodeJS.ProcessEnv };
const secret = generateKeyPairSync('ed25519').privateKey;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'publish-'));
  skopeo = await findDebianTool('skopeo', 'the tests of images');
  registry = await startRegistry(folder);
  publicKey = writePublicKey(publicKeyOf(secret));
  await mkdir(release());
  indexDigest = await writeSmallImages();
  await packed(await writeChart(folder, VERSION), `${CHART}-${VERSION}.tgz`);
  const deployment = path.join(folder, `gateway-deploy-${VERSION}`);
  await mkdir(path.join(deployment, 'deploy'), { recursive: true });
  await writeFile(path.join(deployment, 'deploy/smoke-test.sh'), '#!/bin/sh\n');
  await packed(deployment, `gateway-deploy-${VERSION}.tar.gz`);
  for (const name of ['gwctl', 'gateway-client']) {
    await writeFile(path.join(release(), `${name}-${VERSION}.tgz`), name);
  }
  await sign();
}, 240_000);
afterAll(async () => {
  await registry.stop();
  await rm(folder, { recursive: true });
});

const release = () => path.join(folder, 'release');

/** An image of one small layer for each processor, as the archives of a release. */
async function writeSmallImages(): Promise<string> {
  const platforms = [];
  const manifests = [];
  for (const architecture of ARCHITECTURES) {
    const content = Buffer.from(`for ${architecture}`);
    const entries = [{ path: 'hello', mode: 0o644, content }];
    const layer = await writeLayer(path.join(folder, architecture), tar(entries, TIME_MS), 1);
    const archive = `gateway-data-plane-${VERSION}-linux-${architecture}.oci.tar`;
    const { manifest } = await writeImageArchive(path.join(release(), archive), {
      reference: `gateway/data-plane:${VERSION}`,
      platform: { architecture, os: 'linux' },
      config: {},
      layers: [layer],
      timeMs: TIME_MS,
    });
    manifests.push(manifest);
    platforms.push({ platform: `linux/${architecture}`, digest: manifest.digest, archive });
  }
  const { digest } = imageIndex(manifests).descriptor;
  const images = [{ name: 'data-plane', digest, platforms }];
  await writeFile(path.join(release(), `images-${VERSION}.json`), JSON.stringify(images));
  return digest;
}

async function packed(from: string, name: string): Promise<void> {
  const args = ['-czf', path.join(release(), name), '-C', path.dirname(from), path.basename(from)];
  await runOrThrow('tar', args, { timeoutMs: 20_000 });
}

async function sign(): Promise<void> {
  await writeSums(release());
  const comments = { untrusted: 'test', trusted: `gateway ${VERSION}` };
  const signature = signFile(await readFile(path.join(release(), SUMS)), secret, comments);
  await writeFile(path.join(release(), `${SUMS}.minisig`), signature);
}

async function published(options: Partial<PublishOptions> = {}): Promise<readonly string[]> {
  const lines: string[] = [];
  await publish({
    folder: release(),
    version: VERSION,
    registry: `${new URL(registry.url).host}/edge`,
    changelog: CHANGELOG,
    publicKey,
    layouts: path.join(folder, 'layouts'),
    execute: false,
    log: (line) => void lines.push(line),
    ...options,
  });
  return lines;
}

it('only says what it would do by default', async () => {
  const lines = await published();
  expect(lines.at(-1)).toBe('# nothing was published; add --execute to run these commands');
  const commands = lines.filter((line) => !line.startsWith('#'));
  expect(commands.map((line) => line.split(' ', 2).join(' '))).toEqual([
    ...Array.from({ length: 3 }, () => 'skopeo copy'),
    'gh release',
    ...Array.from({ length: 2 }, () => 'npm publish'),
  ]);
  expect(commands.find((line) => line.startsWith('gh '))).toContain(`SHA256SUMS.minisig`);
  expect(await readFile(path.join(folder, 'layouts/notes.md'), 'utf8')).toBe('- A change.\n');
  const catalog = (await (await fetch(`${registry.url}/v2/_catalog`)).json()) as object;
  expect(catalog).toEqual({ repositories: [] });
});

it('pushes images of all processors, chart and manifests under the digests that it names', async () => {
  // Programs of other names do what gh and npm would do to the world: nothing.
  const programs = path.join(folder, 'programs');
  await mkdir(programs);
  for (const name of ['gh', 'npm']) {
    const script = `#!/bin/sh\necho "${name} $*" >> ${folder}/called\n`;
    await writeFile(path.join(programs, name), script, { mode: 0o755 });
  }
  const library = skopeo.env['LD_LIBRARY_PATH'];
  const script = `#!/bin/sh\nHOME=${folder} ${library === undefined ? '' : `LD_LIBRARY_PATH=${library}`} exec ${skopeo.file} --insecure-policy --registries.d ${folder} --tmpdir ${folder} "$@"\n`;
  await writeFile(path.join(programs, 'skopeo'), script, { mode: 0o755 });
  const before = process.env['PATH'];
  process.env['PATH'] = `${programs}:${before}`;
  try {
    await published({ execute: true, skopeoOptions: ['--dest-tls-verify=false'] });
  } finally {
    process.env['PATH'] = before;
  }
  const accept = { accept: 'application/vnd.oci.image.index.v1+json' };
  const url = `${registry.url}/v2/edge/data-plane/manifests/${VERSION}`;
  const index = await fetch(url, { headers: accept });
  expect(index.headers.get('docker-content-digest')).toBe(indexDigest);
  const { manifests } = (await index.json()) as { manifests: { platform: object }[] };
  expect(manifests.map(({ platform }) => platform)).toEqual([
    { architecture: 'amd64', os: 'linux' },
    { architecture: 'arm64', os: 'linux' },
  ]);
  const called = (await readFile(path.join(folder, 'called'), 'utf8')).trim().split('\n');
  expect(called.map((line) => line.split(' ', 2).join(' '))).toEqual([
    'gh release',
    'npm publish',
    'npm publish',
  ]);
}, 60_000);

it('publishes a chart that Helm pulls, and manifests at the root of their archive', async () => {
  const { helm } = await findKubernetesTools();
  const chart = `oci://${new URL(registry.url).host}/edge/${CHART}`;
  const args = ['show', 'chart', chart, '--version', VERSION, '--plain-http'];
  const env = { PATH: process.env['PATH'], HOME: folder };
  const { output } = await runCommand(helm, args, { env, timeoutMs: 60_000 });
  expect(output).toContain(`name: ${CHART}\n`);
  expect(output).toContain(`version: ${VERSION}\n`);
  const accept = { accept: 'application/vnd.oci.image.manifest.v1+json' };
  const repository = `${registry.url}/v2/edge/gateway-deploy`;
  const manifest = await fetch(`${repository}/manifests/${VERSION}`, { headers: accept });
  const { layers } = (await manifest.json()) as { layers: { digest: string }[] };
  const blob = await fetch(`${repository}/blobs/${layers[0]?.digest}`);
  const file = path.join(folder, 'manifests.tar.gz');
  await writeFile(file, Buffer.from(await blob.arrayBuffer()));
  const listed = await runOrThrow('tar', ['-tzf', file], { timeoutMs: 20_000 });
  expect(listed).toBe('deploy/\ndeploy/smoke-test.sh\n');
}, 60_000);

it.each([
  ['a file was changed', 'gwctl-7.8.9.tgz', 'gwctl-7.8.9.tgz'],
  ['a file was added', 'more.tgz', 'more.tgz'],
  ['the checksums were made again', SUMS, 'the file was changed'],
])('publishes nothing if %s', async (_what, name, message) => {
  const file = path.join(release(), name);
  const before = await readFile(file).catch(() => undefined);
  if (name === SUMS) {
    const other = path.join(release(), `gwctl-${VERSION}.tgz`);
    await copyFile(other, path.join(folder, 'kept'));
    await writeFile(other, 'other');
    await writeSums(release());
    await expect(published()).rejects.toThrow(message);
    await copyFile(path.join(folder, 'kept'), other);
  } else {
    await writeFile(file, 'other');
    await expect(published()).rejects.toThrow(message);
  }
  if (before === undefined) await rm(file);
  else await writeFile(file, before);
});

it('publishes nothing that is signed with another key, or has no entry in the changelog', async () => {
  const other = writePublicKey(publicKeyOf(generateKeyPairSync('ed25519').privateKey));
  await expect(published({ publicKey: other })).rejects.toThrow('signed with the key');
  await expect(published({ changelog: '# Changelog\n' })).rejects.toThrow('no entry of 7.8.9');
});
