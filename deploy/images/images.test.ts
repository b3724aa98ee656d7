import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { variables as controlPlaneVariables } from '@gateway/control-plane/config';
import { variables as dataPlaneVariables } from '@gateway/data-plane/config';
import { buildConsole, buildDocs } from '@gateway/tools/build/build-pages';
import { BUNDLED, builtPlane } from '@gateway/tools/build/built-planes';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { presentVersion } from '../present-version.ts';
import { imageEnvironment } from './image-config.ts';
import { IMAGE_UID, IMAGES, imageCommand, isImageName } from './image.ts';
import { writeApp } from './app-files.ts';
import { pinnedNode } from './pinned-node.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const { CONTROL_PLANE_PORT, CONTROL_PLANE_ADMIN_PORT } = controlPlaneVariables.shape;
const { GATEWAY_PORT, DATA_PLANE_ADMIN_PORT } = dataPlaneVariables.shape;
const PORTS: Readonly<Record<string, readonly number[]>> = {
  'control-plane': [CONTROL_PLANE_PORT.parse(undefined), CONTROL_PLANE_ADMIN_PORT.parse(undefined)],
  'data-plane': [GATEWAY_PORT.parse(undefined), DATA_PLANE_ADMIN_PORT.parse(undefined)],
};

/** The instructions of the last stage, with their continuation lines joined. */
async function finalStage(name: string): Promise<ReadonlyMap<string, string>> {
  const file = new URL(`${name}.Dockerfile`, import.meta.url);
  const text = (await readFile(file, 'utf8')).replaceAll(/\\\n\s*/g, '');
  const [, stage = ''] = text.split('\nFROM scratch\n');
  return new Map(
    stage
      .split('\n')
      .filter((line) => /^[A-Z]+ /.test(line))
      .map((line) => [line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1)]),
  );
}

describe.each(Object.keys(IMAGES).filter(isImageName))('the Dockerfile of %s', (name) => {
  it('starts the command and sets the environment that the image is tested with', async () => {
    const stage = await finalStage(name);
    expect(JSON.parse(stage.get('ENTRYPOINT') ?? '')).toEqual(imageCommand(name));
    const variables = (stage.get('ENV') ?? '').split(' ').map((one) => one.split('='));
    expect(Object.fromEntries(variables)).toEqual(imageEnvironment(name));
  });

  it('runs as the unprivileged user, and exposes the default ports', async () => {
    const stage = await finalStage(name);
    expect(stage.get('USER')).toBe(`${IMAGE_UID}:${IMAGE_UID}`);
    expect(stage.get('EXPOSE')?.split(' ').map(Number)).toEqual(PORTS[name]);
    expect(stage.has('HEALTHCHECK')).toBe(name !== 'gwctl');
  });

  it('has the pinned Node of an official image, and labels the present version', async () => {
    const file = new URL(`${name}.Dockerfile`, import.meta.url);
    const text = await readFile(file, 'utf8');
    const pinned = /^FROM node:([\d.]+)-bookworm-slim@sha256:[0-9a-f]{64} AS build$/m.exec(text);
    expect(pinned?.[1]).toBe(pinnedNode());
    expect(text).toContain(`ARG VERSION=${await presentVersion(repository)}\n`);
  });
});

describe('the files of the product in an image', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'image-files-'));
    for (const plane of BUNDLED) await builtPlane(plane);
    const log = (line: string) => void process.stderr.write(`${line}\n`);
    await buildConsole({ log });
    await buildDocs({ log });
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true }));

  it.each(['control-plane', 'data-plane'] as const)(
    'of the %s are all that it loads before it reads its settings',
    async (name) => {
      const app = path.join(folder, name);
      await writeApp(name, app);
      const main = path.join(app, 'main.mjs');
      const { stdout, stderr } = spawnSync(process.execPath, [main], { env: {}, encoding: 'utf8' });
      expect(stdout + stderr).toMatch(IMAGES[name].withoutSettings);
      const licences = await readFile(path.join(app, 'THIRD-PARTY-LICENSES'), 'utf8');
      expect(licences).toMatch(/^zod \d+\.\d+\.\d+$/m);
    },
  );
});
