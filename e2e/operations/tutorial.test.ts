import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@gateway/local-stack/process/free-port';
import { createPlaneStack, type PlaneStack } from '@gateway/testing/processes';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CURL, CURL_FUNCTION } from './shell-line.ts';
import { outputMatches, tutorialSteps, type Step } from './tutorial-steps.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = path.join(root, 'docs/tutorial.md');
/** Ends the output of a step. */
const END = '\u0001';

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

  /** Runs the commands of all steps in one shell, and returns what each step printed. */
  async function run(commands: readonly string[]): Promise<string[]> {
    const script = commands.map((one) => `${one}printf '${END}'\n`).join('');
    const env = {
      PATH: [path.dirname(process.execPath), process.env['PATH']].join(':'),
      HOME: home,
      TMPDIR: home,
      LC_ALL: 'C.UTF-8',
      // Two thirds of a run of gwctl would be compiling.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      NODE: process.execPath,
      CURL,
    };
    const shell = spawn('bash', ['-c', `exec 2>&1\n${CURL_FUNCTION}${script}`], {
      cwd: root,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    shell.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    await once(shell, 'exit');
    try {
      // The upstreams run on if the step that stops them failed.
      process.kill(-(shell.pid ?? 0), 'SIGKILL');
    } catch {
      // All have ended.
    }
    return output.split(END).slice(0, -1);
  }

  it('prints on a fresh gateway what the page says', async () => {
    const [start, ...others] = steps;
    // The stack of this test runs already; the tests of npm start run this command.
    expect(start).toEqual({ commands: 'npm start\n', output: '' });
    const printed = await run(others.map(({ commands }) => commands));
    const wrong = others
      .map(({ commands, output }, at) => ({ commands, output, printed: printed[at] }))
      .filter((step) => !outputMatches(step.output, step.printed ?? ''));
    expect(wrong).toEqual([]);
    expect(printed).toHaveLength(others.length);
  }, 120_000);
});
