import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const MODULE = new URL('pnpm.mjs', import.meta.url).href;

describe('the pinned pnpm', () => {
  let folder: string;
  let archive: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'pinned-pnpm-'));
    // A registry with a package of one program that prints its arguments, and an npm that downloads it.
    mkdirSync(path.join(folder, 'package/bin'), { recursive: true });
    const program = 'console.log("ran", ...process.argv.slice(2));';
    writeFileSync(path.join(folder, 'package/bin/pnpm.cjs'), program);
    archive = path.join(folder, 'registry.tgz');
    execFileSync('tar', ['-czf', archive, '-C', folder, 'package']);
    const npm = `#!/bin/sh\necho download >> ${folder}/log\ncp ${archive} pnpm-1.2.3.tgz\n`;
    writeFileSync(path.join(folder, 'npm'), npm, { mode: 0o755 });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Runs `pnpm audit` with this hash in package.json. */
  function runWith(hash: string): string {
    const packageManager = `pnpm@1.2.3+sha512.${hash}`;
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ packageManager }));
    const code = `const { runPnpm } = await import('${MODULE}'); await runPnpm('${folder}', ['audit']);`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      encoding: 'utf8',
      env: { PATH: `${folder}:${process.env['PATH']}`, XDG_CACHE_HOME: path.join(folder, 'cache') },
    });
    return stdout + stderr;
  }
  const downloads = () => readFileSync(path.join(folder, 'log'), 'utf8').trim().split('\n').length;

  it('runs if it has the hash of package.json, and is downloaded once', () => {
    const hash = createHash('sha512').update(readFileSync(archive)).digest('hex');
    expect(runWith(hash)).toBe('ran audit\n');
    expect(runWith(hash)).toBe('ran audit\n');
    expect(downloads()).toBe(1);
  });

  it('does not run if it has another hash, nor the next time', () => {
    for (const time of [1, 2]) {
      const output = runWith('0'.repeat(128));
      expect(output).toContain('package.json expects 000');
      expect(output).not.toContain('ran audit');
      expect(downloads()).toBe(time);
    }
  });
});
