import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startPostgres } from './start-postgres.ts';

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

describe('startPostgres', () => {
  let root: string;
  /** A cluster that has been stopped. Each test gets a copy, because initdb takes a second of CPU time. */
  let prepared: string;
  let dataDir: string;
  const log = (): void => undefined;

  beforeAll(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'gateway-postgres-'));
    await chmod(root, 0o711);
    prepared = path.join(root, 'prepared');
    await (await startPostgres({ dataDir: prepared, log })).stop();
  }, 40_000);
  afterAll(() => rm(root, { recursive: true, force: true }));
  beforeEach(() => {
    dataDir = path.join(root, 'copy');
    // Keeps the owner of the files, which only the account of the server may read.
    execFileSync('cp', ['-a', prepared, dataDir]);
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  it('keeps its data over a restart, in UTF-8 with the C locale', async () => {
    const first = await startPostgres({ dataDir, log });
    await query(first.url, "create table kept as select 'ü' as letter");
    await first.stop();
    const second = await startPostgres({ dataDir, log });
    try {
      expect(await query(second.url, 'select letter from kept')).toEqual([{ letter: 'ü' }]);
      const settings = await query(
        second.url,
        'select pg_encoding_to_char(encoding) as encoding, datcollate from pg_database where datname = current_database()',
      );
      expect(settings).toEqual([{ encoding: 'UTF8', datcollate: 'C' }]);
    } finally {
      await second.stop();
    }
  });

  it('starts after SIGKILL even if its old pid belongs to another process', async () => {
    const killed = await startPostgres({ dataDir, log });
    await killed.process.stop('SIGKILL');
    const stranger = spawn('sleep', ['60']);
    try {
      const file = path.join(dataDir, 'cluster', 'postmaster.pid');
      const [, ...rest] = (await readFile(file, 'utf8')).split('\n');
      await writeFile(file, [String(stranger.pid), ...rest].join('\n'));
      const again = await startPostgres({ dataDir, log });
      expect(await query(again.url, 'select 1 as one')).toEqual([{ one: 1 }]);
      expect(stranger.exitCode).toBeNull();
      await again.stop();
    } finally {
      stranger.kill();
      await once(stranger, 'exit');
    }
  });

  it('stops a server on the same data whose owner was killed', async () => {
    const orphan = await startPostgres({ dataDir, log });
    const next = await startPostgres({ dataDir, log });
    expect(await orphan.process.exited).toEqual({ code: 0, signal: null });
    expect(await query(next.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await next.stop();
  });

  it('reports damaged data in one line and leaves no process', async () => {
    await rm(path.join(dataDir, 'cluster', 'global'), { recursive: true });
    await expect(startPostgres({ dataDir, log })).rejects.toThrow(
      /^postgres ended .*could not .*global/,
    );
  });

  it.each([
    ['files', /refuses connections: .*postgres/],
    ['password', /refuses connections: password authentication failed/],
  ])(
    'fails at once if it starts but refuses connections because of wrong %s',
    async (damaged, reason) => {
      if (damaged === 'password') await writeFile(path.join(dataDir, 'password'), 'another\n');
      else await rm(path.join(dataDir, 'cluster', 'base'), { recursive: true });
      const startedMs = performance.now();
      await expect(startPostgres({ dataDir, log })).rejects.toThrow(reason);
      // The time that a server has to become ready is 60 s.
      expect(performance.now() - startedMs).toBeLessThan(20_000);
    },
    40_000,
  );

  it('accepts only clients with the password', async () => {
    const server = await startPostgres({ dataDir, log });
    try {
      const url = new URL(server.url);
      url.password = 'wrong';
      await expect(query(url.href, 'select 1')).rejects.toThrow(/password/);
    } finally {
      await server.stop();
    }
  });
});
