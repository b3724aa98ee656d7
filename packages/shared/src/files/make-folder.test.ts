import { mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { makeFolder } from './make-folder.ts';

describe('makeFolder', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'gateway-make-folder-'));
  });
  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  it('creates missing folders with the mode and keeps existing ones', async () => {
    const folder = path.join(root, 'a', 'b', 'c');
    await makeFolder(folder, 0o700);
    await makeFolder(folder, 0o755);
    for (let one = folder; one !== root; one = path.dirname(one)) {
      expect((await stat(one)).mode & 0o777).toBe(0o700);
    }
    await symlink(folder, path.join(root, 'link'));
    await makeFolder(path.join(root, 'link', 'd'));
    expect(await readdir(folder)).toEqual(['d']);
  });

  it('can run several times in parallel', async () => {
    const folder = path.join(root, 'a', 'b');
    await Promise.all(Array.from({ length: 8 }, () => makeFolder(folder)));
    expect((await stat(folder)).isDirectory()).toBe(true);
  });

  it('fails if a file has the name of the folder or of a parent', async () => {
    const file = path.join(root, 'file');
    await writeFile(file, '');
    await expect(makeFolder(file)).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(makeFolder(path.join(file, 'a', 'b'))).rejects.toMatchObject({ code: 'ENOTDIR' });
    await symlink(path.join(root, 'nowhere'), path.join(root, 'dangling'));
    await expect(makeFolder(path.join(root, 'dangling'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('fails, and does not retry for ever, in a folder where nothing can be created', async () => {
    // On Linux, mkdir in /proc fails with ENOENT; elsewhere /proc does not exist.
    const inProc = makeFolder('/proc/gateway/data');
    await expect(inProc).rejects.toMatchObject({ code: expect.stringMatching(/^E[A-Z]+$/) });
  });
});
