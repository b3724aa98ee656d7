import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '@gateway/shared/test/eventually';
import { UndoList } from '@gateway/shared/test/undo-list';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startScript } from './script.ts';

const ENDS_WITH_CHANNEL = "process.on('disconnect', () => process.exit());";

describe('startScript', () => {
  const undo = new UndoList();
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'script-'));
    undo.add(() => rm(folder, { recursive: true }));
  });
  afterEach(() => undo.run());

  async function start(script: string, order: unknown, { signal } = new AbortController()) {
    const file = path.join(folder, 'script.mjs');
    await writeFile(file, script + ENDS_WITH_CHANNEL);
    const run = { signal, defer: (step: () => unknown) => undo.add(step) };
    return startScript(run, pathToFileURL(file), order);
  }

  it('passes its order and messages on, and ends the process with the run', async () => {
    const echo = `process.send(JSON.parse(process.argv[2]));
      process.on('message', (message) => process.send(message));`;
    const script = await start(echo, { ordered: 1 });
    expect(await script.nextMessage()).toEqual({ ordered: 1 });
    expect(await script.ask({ asked: NaN })).toEqual({ asked: NaN });
    await undo.run();
    expect(script.child.exitCode).toBe(0);
    await expect(script.nextMessage()).rejects.toThrow('a process has ended');
  });

  it('does not wait for the process of an interrupted run', async () => {
    const run = new AbortController();
    const running = path.join(folder, 'running');
    const write =
      "import { writeFileSync } from 'node:fs'; writeFileSync(JSON.parse(process.argv[2]), '');";
    const script = await start(write, running, run);
    const starting = script.nextMessage();
    await eventually(() => expect(existsSync(running)).toBe(true));
    run.abort(new Error('interrupted'));
    await expect(starting).rejects.toThrow('interrupted');
    await expect(start('', {}, run)).rejects.toThrow('interrupted');
  });
});
