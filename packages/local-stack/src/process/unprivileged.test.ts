import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runCommand } from '@gateway/tools/process/run-command';
import { asAccount, unprivilegedAccount } from './unprivileged.ts';

/** Prints its uid, and whether access(2) permits it to execute itself; initdb checks postgres this way. */
const script = `#!/bin/sh
id -u
[ -x "$0" ] && echo reachable
`;

describe('a command that must not run as root', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), 'gateway-account-')));
    file = path.join(folder, 'program');
    await writeFile(file, script);
    await chmod(file, 0o755);
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it.each([
    ['an open folder', 0o755],
    ['a folder that other accounts cannot enter', 0o700],
  ])('runs from %s, and not as root', async (_case, mode) => {
    await chmod(folder, mode);
    const account = await unprivilegedAccount();
    const launch = await asAccount(account, file, [], [file]);
    const result = await runCommand(launch.command, launch.args, { ...launch, timeoutMs: 5000 });
    const uid = account?.uid ?? process.getuid?.();
    expect(result).toEqual({ code: 0, output: `${uid ?? ''}\nreachable\n` });
    expect(uid).not.toBe(0);
  });
});
