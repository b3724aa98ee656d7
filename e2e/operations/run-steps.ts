import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { CURL, CURL_FUNCTION } from './shell-line.ts';
import { outputMatches, type Step } from './tutorial-steps.ts';

/** Ends the output of a step. */
const END = '\u0001';

/**
 * Runs the commands of all steps of a page in one shell, whose home is a folder.
 *
 * @param root where the shell begins
 * @returns the steps that print something else than the page says, also if they do not run
 */
export async function runSteps(
  steps: readonly Step[],
  home: string,
  root: string,
): Promise<(Step & { readonly printed: string | undefined })[]> {
  const printed = await run(
    steps.map(({ commands }) => commands),
    home,
    root,
  );
  return steps
    .map((step, at) => ({ ...step, printed: printed[at] }))
    .filter((step) => step.printed === undefined || !outputMatches(step.output, step.printed));
}

async function run(commands: readonly string[], home: string, root: string): Promise<string[]> {
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
