import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@gateway/local-stack/process/free-port';
import { createPlaneStack, type PlaneStack } from '@gateway/testing/processes';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runSteps } from './run-steps.ts';
import { tutorialSteps, type Step } from './tutorial-steps.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = path.join(root, 'docs/use/grpc.md');
const INSTALL = /^npm install .*$/m;

describe('docs/use/grpc.md', () => {
  let stack: PlaneStack;
  let home: string;
  let steps: readonly Step[];
  beforeAll(async () => {
    stack = await createPlaneStack({ env: { HTTP2_CLEARTEXT: 'on' } });
    await stack.startControlPlane();
    const { baseUrl } = await stack.startDataPlane({ name: 'data-plane-1' });
    home = await mkdtemp(path.join(tmpdir(), 'gateway-grpc-page-'));
    await linkPackages(path.join(home, 'node_modules', '@grpc'));
    // What is the same for every reader, and different in a test.
    const text = (await readFile(page, 'utf8'))
      .replaceAll('http://127.0.0.1:8080', baseUrl)
      .replaceAll('gwt_...', stack.adminToken)
      .replaceAll('9201', String(await freePort()))
      .replace(INSTALL, 'ln -s "$HOME/node_modules" .');
    steps = tutorialSteps(text);
  }, 60_000);
  afterAll(async () => {
    await rm(home, { recursive: true });
    await stack.close();
  });

  it('prints on a fresh gateway what the page says', async () => {
    const [start, ...others] = steps;
    // The stack of this test runs already; the tests of npm start run its command.
    expect(start).toEqual({ commands: 'HTTP2_CLEARTEXT=on npm start\n', output: '' });
    expect(await runSteps(others, home, root)).toEqual([]);
  }, 120_000);
});

/** Makes the packages that the page installs, of those that are installed with the repository. */
async function linkPackages(folder: string): Promise<void> {
  const grpcJs = createRequire(import.meta.url).resolve('@grpc/grpc-js/package.json');
  const loader = createRequire(grpcJs).resolve('@grpc/proto-loader/package.json');
  await mkdir(folder, { recursive: true });
  await symlink(path.dirname(grpcJs), path.join(folder, 'grpc-js'));
  await symlink(path.dirname(loader), path.join(folder, 'proto-loader'));
}
