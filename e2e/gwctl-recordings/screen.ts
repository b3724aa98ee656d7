import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SOURCE = fileURLToPath(new URL('../../packages/cli/src/gwctl.ts', import.meta.url));

/** A command line, and what it wrote to the terminal, with its colours. */
export interface Screen {
  readonly line: string;
  readonly text: string;
}

/**
 * Runs a command line of gwctl in a terminal of its own (`script` of util-linux). What it writes to stderr comes after the
 * rest, so that no spinner is in the picture.
 */
export async function screenOf(
  line: string,
  {
    columns,
    url,
    token,
  }: { readonly columns: number; readonly url: string; readonly token: string },
): Promise<Screen> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gwctl-screen-'));
  try {
    const context = { url, token, environment: 'production' };
    const contexts = JSON.stringify({ current: 'shop', contexts: { shop: context } });
    await mkdir(path.join(folder, 'gwctl'));
    await writeFile(path.join(folder, 'gwctl/contexts.json'), contexts, { mode: 0o600 });
    const inner = `stty cols ${columns} rows 50; "$NODE" "$GWCTL" ${line} 2>errors; cat errors`;
    const { stdout } = await run('script', ['--quiet', '--command', inner, '/dev/null'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        NODE: process.execPath,
        GWCTL: SOURCE,
        HOME: folder,
        LANG: 'C.UTF-8',
        TERM: 'xterm-256color',
        SHELL: '/bin/sh',
        XDG_CONFIG_HOME: folder,
      },
    });
    return { line, text: stdout.replaceAll('\r', '').trimEnd() };
  } finally {
    await rm(folder, { recursive: true });
  }
}
