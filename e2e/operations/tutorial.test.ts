import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@gateway/local-stack/process/free-port';
import { createPlaneStack, type PlaneStack } from '@gateway/testing/processes';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runSteps } from './run-steps.ts';
import { tutorialSteps, type Step } from './tutorial-steps.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = path.join(root, 'docs/tutorial.md');

describe('docs/tutorial.md', () => {
  let stack: PlaneStack;
  let home: string;
  let steps: readonly Step[];
  beforeAll(async () => {
    stack = await createPlaneStack();
    await stack.startControlPlane();
    const { baseUrl } = await stack.startDataPlane({ name: 'data-plane-1' });
    home = await mkdtemp(path.join(tmpdir(), 'gateway-tutorial-'));
    // What is the same for every reader, and different in a test.
    let text = (await readFile(page, 'utf8'))
      .replaceAll('http://127.0.0.1:8080', baseUrl)
      .replaceAll('gwt_...', stack.adminToken);
    for (const port of ['9101', '9102', '9103']) {
      text = text.replaceAll(port, String(await freePort()));
    }
    steps = tutorialSteps(text);
  }, 60_000);
  afterAll(async () => {
    await rm(home, { recursive: true });
    await stack.close();
  });

  it('prints on a fresh gateway what the page says', async () => {
    const [start, ...others] = steps;
    // The stack of this test runs already; the tests of npm start run this command.
    expect(start).toEqual({ commands: 'npm start\n', output: '' });
    expect(await runSteps(others, home, root)).toEqual([]);
  }, 120_000);
});
