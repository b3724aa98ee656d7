import { fileURLToPath } from 'node:url';
import { runCommand } from '../process/run-command.ts';

const BUILDS = {
  console: fileURLToPath(new URL('../../packages/console/build/main.ts', import.meta.url)),
  documentation: fileURLToPath(new URL('../../packages/docs-site/build/main.ts', import.meta.url)),
} as const;
const TIMEOUT_MS = 120_000;

interface BuildSteps {
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Builds the console, unless it was built from the same sources before. If that fails, the gateway works without it, and the
 * log says why. In a process of its own, because the bundler would keep its memory.
 */
export function buildConsole(steps: BuildSteps): Promise<void> {
  return build('console', steps);
}

/** The same for the site of the documentation, with the reference of the API. */
export function buildDocs(steps: BuildSteps): Promise<void> {
  return build('documentation', steps);
}

async function build(what: keyof typeof BUILDS, { log, signal }: BuildSteps): Promise<void> {
  const options = { timeoutMs: TIMEOUT_MS, ...(signal && { signal }) };
  const { code, output } = await runCommand(process.execPath, [BUILDS[what]], options);
  if (code === 0 || signal?.aborted === true) return;
  log(`The ${what} could not be built:\n${output.trim()}`);
}
