import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { ForkedUpstreams } from './forked-upstreams.ts';

const ENDS_WITH_CHANNEL = "process.on('disconnect', () => process.exit());";

describe('ForkedUpstreams', () => {
  const opened = closeAfterEach();
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'forked-upstreams-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function upstreamsOf(script: string, { signal } = new AbortController()) {
    const file = path.join(folder, 'upstream.mjs');
    await writeFile(file, script + ENDS_WITH_CHANNEL);
    return opened(new ForkedUpstreams(pathToFileURL(file), signal));
  }

  it('resolves with the URL once the process has sent its port', async () => {
    const upstreams = await upstreamsOf('process.send(Number(process.argv[2]));');
    expect(await upstreams.start('8123')).toMatchObject({ url: 'http://127.0.0.1:8123' });
  });

  it('does not wait for the process of an interrupted run', async () => {
    const run = new AbortController();
    const running = path.join(folder, 'running');
    const upstreams = await upstreamsOf(
      "import { writeFileSync } from 'node:fs'; writeFileSync(process.argv[2], '');",
      run,
    );
    const starting = upstreams.start(running);
    await eventually(() => expect(existsSync(running)).toBe(true));
    run.abort(new Error('interrupted'));
    await expect(starting).rejects.toThrow('interrupted');
    await expect(upstreams.start()).rejects.toThrow('interrupted');
  });
});
