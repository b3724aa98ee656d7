import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@gateway/shared/test/eventually';
import { metric } from '../../harness/figures.ts';
import type { FaultWorld } from '../harness/fault-world.ts';
import { hasLogged } from '../harness/log-lines.ts';
import type { Scenario } from '../harness/scenario.ts';

/**
 * Runs the command with a file size limit of 0, as on a full disk that still has room for names.
 * Its log is a pipe, so it still works. A shell limit is used because a small file system may be
 * unavailable.
 */
const FULL_DISK = ['bash', '-c', 'exec > >(exec cat) 2>&1; ulimit -f 0; exec "$@"', 'bash'];
const DROPPED = 'gateway_records_dropped_total{reason="spool_failed"}';
const LAST_GOOD = 'gateway_config_last_good_failures_total';
/** For the records that are not lost. */
const RECORDS_MS = 15_000;
const WAIT = { deadlineMs: 60_000, intervalMs: 50 };

/** NATS is down meanwhile, so that records need the disk. */
export const diskFull: Scenario<FaultWorld> = {
  fault: 'disk of spool and last-good file full, NATS down',
  async run(world, outageMs) {
    const { stack } = world.gateway;
    const folder = await mkdtemp(path.join(tmpdir(), 'gateway-full-disk-'));
    await world.dataPlanes[0]?.stop();
    // With so little memory the disk is needed soon.
    const env = { MAX_RECORD_MEMORY_BYTES: String(64 * 1024), DATA_PLANE_DATA_DIR: folder };
    const plane = await world.restartDataPlane(0, { launcher: FULL_DISK, env });
    const { adminUrl } = plane;
    try {
      const run = await world.begin(this.fault, { recordsMs: RECORDS_MS });
      await world.changeArrives();
      await stack.nats.stop();
      await run.outage(outageMs);
      await eventually(async () => {
        if ((await metric(adminUrl, DROPPED)) === 0) throw new Error('no record needed the disk');
      }, WAIT);
      const body = await (await fetch(`${adminUrl}/readyz`)).text();
      for (const [reason, event] of [
        ['last-good configuration not written', 'last-good configuration not written'],
        ['records are dropped', 'request records dropped'],
      ] as const) {
        run.expectations.hold(body.includes(reason), `/readyz does not contain: ${reason}`);
        run.expectations.hold(await hasLogged(plane, event), `the log does not contain: ${event}`);
      }
      run.expectations.hold((await metric(adminUrl, LAST_GOOD)) > 0, `${LAST_GOOD} is 0`);
      const litter = await readdir(path.join(folder, 'spool'));
      run.expectations.hold(litter.length <= 1, `there are ${litter.length} files in the spool`);
      await run.repair(async () => {
        await stack.restartNats();
        await world.changeArrives();
        await run.keysTaken();
      });
      const dropped = await metric(adminUrl, DROPPED);
      return await run.finish(
        { keysRefused: Infinity, recordsLost: dropped, recordsDropped: dropped },
        `${dropped} records counted as dropped`,
      );
    } finally {
      await world.dataPlanes[0]?.stop();
      await world.restartDataPlane(0);
      await rm(folder, { recursive: true });
    }
  },
};
