import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const MODULE = new URL('nats-server.mjs', import.meta.url).href;

describe('the download of nats-server while packages are installed', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'prefetch-'));
    program('dpkg-deb', 'mkdir -p $3/usr/sbin && cp $2 $3/usr/sbin/nats-server');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function program(name: string, script: string): void {
    writeFileSync(path.join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  /** An apt-get that knows one mirror, keeps its arguments, and ends so. */
  function apt(download: string): void {
    program(
      'apt-get',
      `echo "$@" >> ${folder}/log
case "$*" in
  *indextargets*) echo http://mirror.example/debian/ ;;
  *download*) ${download} ;;
esac`,
    );
  }

  /** @returns the content of the cached program */
  function prefetch(env: Record<string, string> = {}): string | undefined {
    const code = `const { prefetchNatsServer } = await import('${MODULE}');
await prefetchNatsServer(new AbortController().signal, '${folder}');`;
    const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      encoding: 'utf8',
      env: { PATH: `${folder}:/usr/bin:/bin`, XDG_CACHE_HOME: folder, ...env },
    });
    expect([status, stderr]).toEqual([0, '']);
    const cache = path.join(folder, 'gateway');
    const [file, ...more] = existsSync(cache) ? readdirSync(cache) : [];
    expect(more).toEqual([]);
    return file === undefined ? undefined : readFileSync(path.join(cache, file), 'utf8');
  }
  const calls = () => readFileSync(path.join(folder, 'log'), 'utf8');

  it('keeps the newest package of Debian, and is done once', () => {
    apt('echo newest > nats-server.deb');
    expect([prefetch(), prefetch()]).toEqual(['newest\n', 'newest\n']);
    expect(calls().match(/ download nats-server$/gm)).toHaveLength(1);
  });

  it('leaves a failure to the start of NATS, which reports it', () => {
    apt('echo "E: no such package" >&2; exit 100');
    expect(prefetch()).toBeUndefined();
    expect(calls()).toContain(' download nats-server');
  });

  it.each([
    ['NATS_URL is set', () => ({ NATS_URL: 'nats://127.0.0.1:4222' })],
    [
      'the system has one',
      () => {
        program('nats-server', '');
        return {};
      },
    ],
  ])('is not made if %s', (_why, prepare) => {
    apt('echo newest > nats-server.deb');
    expect(prefetch(prepare())).toBeUndefined();
    expect(existsSync(path.join(folder, 'log'))).toBe(false);
  });
});
