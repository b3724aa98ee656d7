import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ConfigWorld } from '../harness/config-world.ts';
import { hasLogged } from '../harness/log-lines.ts';
import type { Scenario } from '../harness/scenario.ts';

interface BadFile {
  /** The newest file whose name matches is damaged. */
  readonly name: RegExp;
  readonly spoil: (content: Buffer) => Buffer;
  /** The log line, and the reason in it. */
  readonly logged: readonly [message: string, reason: string];
}

/** A data plane that starts with a bad file logs this, and serves the configuration from NATS. */
function lastGoodFile(fault: string, { name, spoil, logged }: BadFile): Scenario<ConfigWorld> {
  return {
    fault,
    async run({ world, dataDirs }) {
      const dataDir = dataDirs[1];
      if (dataDir === undefined) throw new Error('there is no second data plane');
      // A change after the snapshot, so that the file of changes exists.
      await world.changeArrives();
      const run = await world.begin(fault);
      await world.dataPlanes[1]?.stop('SIGKILL');
      const folder = path.join(dataDir, 'last-good');
      const found = (await readdir(folder))
        .filter((one) => name.test(one))
        .toSorted()
        .at(-1);
      if (found === undefined) throw new Error('the file does not exist');
      const file = path.join(folder, found);
      await writeFile(file, spoil(await readFile(file)));
      await run.repair(async () => {
        const again = await world.restartDataPlane(1, { env: { DATA_PLANE_DATA_DIR: dataDir } });
        run.expectations.hold(
          await hasLogged(again, ...logged, found),
          `the log does not name ${found}`,
        );
        await world.changeArrives();
      });
      return run.finish();
    },
  };
}

const NOT_USED = 'last-good file skipped';
const SNAPSHOT = /^production\.snapshot$/;
const cutOff = (content: Buffer) => content.subarray(0, content.length - 20);

export const lastGoodTruncated = lastGoodFile('a truncated last-good file', {
  name: SNAPSHOT,
  spoil: cutOff,
  logged: [NOT_USED, 'the hash of the snapshot is not the one in its pointer'],
});

export const lastGoodNewer = lastGoodFile('a last-good file of a newer format', {
  name: SNAPSHOT,
  spoil: (content) =>
    Buffer.concat([Buffer.from('gateway-last-good 99\n'), content.subarray(content.indexOf('\n'))]),
  logged: [NOT_USED, 'unknown format 99'],
});

export const lastGoodChangesTruncated = lastGoodFile('a truncated file of last-good changes', {
  name: /^production\.\d+\.deltas$/,
  spoil: cutOff,
  logged: ['last-good deltas skipped', 'truncated'],
});
