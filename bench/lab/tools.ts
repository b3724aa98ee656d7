import { runCommand } from '@gateway/tools/process/run-command';
import { StartError } from '@gateway/tools/process/errors';

const TIMEOUT_MS = 5_000;

/** Commands that every run needs, with the Debian packages that contain them. */
const COMMANDS = {
  nginx: 'nginx-light',
  haproxy: 'haproxy',
  wrk: 'wrk',
  taskset: 'util-linux',
} as const;

/** Commands that some runs need too. */
const FURTHER_COMMANDS = { caddy: 'caddy', h2load: 'nghttp2-client' } as const;

export type FurtherCommand = keyof typeof FURTHER_COMMANDS;

/**
 * Checks that the commands of a run are installed.
 *
 * @throws {StartError} of one line that names the packages to install
 */
export async function requireTools(further: readonly FurtherCommand[]): Promise<void> {
  if (process.platform !== 'linux') throw new StartError('the bench runs on Linux only');
  const missing: string[] = [];
  const packages: [string, string][] = [
    ...Object.entries(COMMANDS),
    ...further.map((command): [string, string] => [command, FURTHER_COMMANDS[command]]),
  ];
  for (const [command, debianPackage] of packages) {
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
