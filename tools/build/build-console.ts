import { fileURLToPath } from 'node:url';
import { runCommand } from '../process/run-command.ts';

const BUILD = fileURLToPath(new URL('../../packages/console/build/main.ts', import.meta.url));
const TIMEOUT_MS = 120_000;

interface BuildSteps {
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Builds the console, unless it was built from the same sources before. If that fails, the gateway works without it, and the
 * log says why. In a process of its own, because the bundler would keep its memory.
 */
export async function buildConsole({ log, signal }: BuildSteps): Promise<void> {
  const options = { timeoutMs: TIMEOUT_MS, ...(signal && { signal }) };
  const { code, output } = await runCommand(process.execPath, [BUILD], options);
  if (code === 0 || signal?.aborted === true) return;
  log(`The console could not be built:\n${output.trim()}`);
}
