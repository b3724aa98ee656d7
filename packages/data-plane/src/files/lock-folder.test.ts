import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../shared/test/eventually.ts';
import { FolderInUseError, lockFolder } from './lock-folder.ts';

const source = new URL('./lock-folder.ts', import.meta.url).href;

describe('the lock of a folder', () => {
  let folder: string;
  const children: ChildProcess[] = [];
  /** The lines that holders wrote before `locked`. */
  let said: string[] = [];
  beforeEach(async () => {
    said = [];
    folder = await realpath(await mkdtemp(path.join(tmpdir(), 'gateway-lock-')));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  /** A process that runs this code after it has locked the folder. */
  async function holder(code = ''): Promise<ChildProcess> {
    const text = `
      import { spawn } from 'node:child_process';
      import { lockFolder } from ${JSON.stringify(source)};
      const lock = await lockFolder(${JSON.stringify(folder)});
      ${code}
      console.log('locked');
      setInterval(() => undefined, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true || value === 'locked') return child;
      said.push(value);
    }
  }

  it('refuses every other process, also by another path, and leaves no file behind', async () => {
    await holder();
    const link = `${folder}-link`;
    await symlink(folder, link);
    try {
      for (const name of [folder, link]) {
        const error = await lockFolder(name).catch((one: unknown) => one);
        expect(error).toBeInstanceOf(FolderInUseError);
        expect(error).toMatchObject({ folder });
      }
    } finally {
      await rm(link);
    }
    expect(await readdir(folder)).toEqual([]);
  });

  it('ends with its process, even after SIGKILL', async () => {
    const child = await holder();
    child.kill('SIGKILL');
    await once(child, 'close');
    (await lockFolder(folder)).release();
    (await lockFolder(folder)).release();
  });

  it('lasts as long as a child process that inherits it', async () => {
    const heir = `const heir = spawn('sleep', ['60'], { stdio: ['ignore', 'ignore', 'ignore', lock.fd] });`;
    const child = await holder(`${heir} console.log(heir.pid);`);
    const pid = Number(said.shift());
    child.kill('SIGKILL');
    await once(child, 'exit');
    await expect(lockFolder(folder)).rejects.toThrow('in use by another process');
    process.kill(pid, 'SIGKILL');
    await eventually(async () => (await lockFolder(folder)).release());
  });

  it('is refused with another error if there is no such folder', async () => {
    await expect(lockFolder(path.join(folder, 'missing'))).rejects.toThrow('ENOENT');
  });
});
