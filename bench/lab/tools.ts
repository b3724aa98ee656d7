import { runCommand } from '@gateway/tools/process/run-command';
import { StartError } from '@gateway/tools/process/errors';

const TIMEOUT_MS = 5_000;

/** Commands that runs in a lab need, with the Debian packages that contain them. */
const COMMANDS = {
  nginx: 'nginx-light',
  haproxy: 'haproxy',
  caddy: 'caddy',
  wrk: 'wrk',
  h2load: 'nghttp2-client',
  taskset: 'util-linux',
};

/**
 * Checks that they are installed.
 *
 * @throws {StartError} of one line that names the packages to install
 */
export async function requireTools(): Promise<void> {
  if (process.platform !== 'linux') throw new StartError('the bench runs on Linux only');
  const missing: string[] = [];
  for (const [command, debianPackage] of Object.entries(COMMANDS)) {
    const { code } = await runCommand(command, ['--version'], { timeoutMs: TIMEOUT_MS });
    if (code === 127) missing.push(debianPackage);
  }
  if (missing.length > 0) {
    throw new StartError(`the bench needs: apt-get install ${missing.join(' ')}`);
  }
}

/** A command and its version, such as `nginx 1.22.1`. */
export async function commandVersion(command: string, args: readonly string[]): Promise<string> {
  const { output } = await runCommand(command, args, { timeoutMs: TIMEOUT_MS });
  return `${command} ${/\d+\.\d[\w.+-]*/.exec(output)?.[0] ?? 'of unknown version'}`;
}
