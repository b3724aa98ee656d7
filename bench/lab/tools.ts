import { runCommand } from '@gateway/tools/process/run-command';
import { StartError } from '@gateway/tools/process/errors';

/** Commands that runs in a lab need: the Debian package that has each, and what makes it print its version. */
const COMMANDS = {
  nginx: ['nginx-light', '-v'],
  haproxy: ['haproxy', '-v'],
  caddy: ['caddy', 'version'],
  wrk: ['wrk', '-v'],
  h2load: ['nghttp2-client', '--version'],
  nghttpd: ['nghttp2-server', '--version'],
  taskset: ['util-linux', '--version'],
} as const;

/**
 * Checks that they are installed.
 *
 * @returns their versions, such as `nginx 1.22.1`
 * @throws {StartError} of one line that names the packages to install
 */
export async function requireTools(): Promise<readonly string[]> {
  if (process.platform !== 'linux') throw new StartError('the bench runs on Linux only');
  const missing: string[] = [];
  const versions: string[] = [];
  for (const [command, [debianPackage, argument]] of Object.entries(COMMANDS)) {
    const { code, output } = await runCommand(command, [argument], { timeoutMs: 5_000 });
    if (code === 127) missing.push(debianPackage);
    versions.push(`${command} ${/\d+\.\d[\w.+-]*/.exec(output)?.[0] ?? 'of unknown version'}`);
  }
  if (missing.length === 0) return versions;
  throw new StartError(`the bench needs: apt-get install ${missing.join(' ')}`);
}
