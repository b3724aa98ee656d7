import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startedAt } from '../process/foreign-process.ts';
import { openDataFolder } from './data-folder.ts';
import { loadSecrets } from './secrets.ts';

function openTestFolder(
  folder: string,
  log: (line: string) => void = () => undefined,
  waitMs = 10_000,
) {
  return openDataFolder(folder, { log, waitMs });
}

describe('the data folder', () => {
  let root: string;
  beforeEach(async () => {
    root = await realpath(await mkdtemp(path.join(tmpdir(), 'gateway-folder-')));
  });
  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  it('is created, claimed and released', async () => {
    const folder = await openTestFolder(path.join(root, 'a', 'b'));
    expect(folder.path).toBe(path.join(root, 'a', 'b'));
    await expect(openTestFolder(folder.path)).rejects.toThrow(/already running .*pid \d+/);
    await folder.release();
    expect(await readdir(folder.path)).toEqual([]);
  });

  it('is claimed once a stack that is stopping has released it', async () => {
    const first = await openTestFolder(root);
    await first.announceStop();
    const lines: string[] = [];
    const second = openTestFolder(root, (line) => {
      lines.push(line);
      void first.release();
    });
    await (await second).release();
    expect(lines).toEqual([`Waiting for the stack on ${root} (pid ${process.pid}) to stop ...`]);
  });

  it('is rejected in one line if a stack does not stop in time', async () => {
    const first = await openTestFolder(root);
    await first.announceStop();
    await expect(openTestFolder(root, () => undefined, 1)).rejects.toThrow(
      /is still stopping; start again when it has stopped, or kill it$/,
    );
    await first.release();
  });

  it('is rejected in one line if a file has its name', async () => {
    const file = path.join(root, 'file');
    await writeFile(file, '');
    await expect(openTestFolder(file)).rejects.toThrow(
      /parent folder is a file; set GATEWAY_DATA_DIR/,
    );
    await expect(openTestFolder(path.join(file, 'x'))).rejects.toThrow(/parent folder is a file/);
  });

  it('is rejected in one line, and at once, if it cannot be created', async () => {
    await chmod(root, 0o500);
    // Root may write anywhere except in /proc.
    const place = process.getuid?.() === 0 ? '/proc' : root;
    for (const folder of [path.join(place, 'data'), path.join(place, 'a', 'b')]) {
      await expect(openTestFolder(folder)).rejects.toThrow(
        new RegExp(`^the data folder ${folder} cannot be used: .*; set GATEWAY_DATA_DIR`),
      );
    }
  });

  it('is rejected in one line if it exists and is not writable', async () => {
    await chmod(root, 0o500);
    const folder = process.getuid?.() === 0 ? '/proc/self' : root;
    await expect(openTestFolder(folder)).rejects.toThrow(/cannot be used: .*GATEWAY_DATA_DIR/);
  });

  it('is claimed after its owner was killed, even if another process has the pid', async () => {
    const stranger = spawn('sleep', ['60']);
    try {
      const pid = stranger.pid ?? 0;
      await writeFile(path.join(root, 'stack.pid'), `${pid} 1\n`);
      await (await openTestFolder(root)).release();
      await writeFile(path.join(root, 'stack.pid'), `${pid} ${await startedAt(pid)}\n`);
      await expect(openTestFolder(root)).rejects.toThrow(`(pid ${pid})`);
    } finally {
      stranger.kill();
      await once(stranger, 'exit');
    }
  });

  it('keeps secrets that are created once and readable by their owner only', async () => {
    const none = { adminToken: undefined, masterKeys: undefined };
    const made = await loadSecrets(root, none);
    expect(made.adminToken).toMatch(/^gwt_[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(made.masterKeys.replace(/^k1:/, ''), 'base64')).toHaveLength(32);
    expect(await loadSecrets(root, none)).toEqual(made);
    for (const name of await readdir(root)) {
      expect((await stat(path.join(root, name))).mode & 0o777).toBe(0o600);
    }
  });
});
