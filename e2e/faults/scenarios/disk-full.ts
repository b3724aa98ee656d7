import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@gateway/shared/test/eventually';
import { metric } from '../../harness/figures.ts';
import type { FaultWorld } from '../harness/fault-world.ts';
import { hasLogged } from '../harness/log-lines.ts';
import type { Scenario } from '../harness/scenario.ts';

/**
 * No file of what follows can grow, as on a full disk that still has room for names; its log goes on, by a
 * pipe. A limit of the shell, as a small file system of its own cannot be counted on.
 */
const FULL_DISK = ['bash', '-c', 'exec > >(exec cat) 2>&1; ulimit -f 0; exec "$@"', 'bash'];
const DROPPED = 'gateway_records_dropped_total{reason="spool_failed"}';
const LAST_GOOD = 'gateway_config_last_good_failures_total';
/** For those that are not lost. */
const RECORDS_MS = 15_000;
const WAIT = { deadlineMs: 60_000, intervalMs: 50 };

/** NATS is away meanwhile, so that records need the disk. */
export const diskFull: Scenario<FaultWorld> = {
  fault: 'disk full where spool and last-good file live, NATS away',
  async run(world, outageMs) {
    const { stack } = world.gateway;
    const folder = await mkdtemp(path.join(tmpdir(), 'gateway-full-disk-'));
    await world.dataPlanes[0]?.stop();
    // So little memory that the disk is needed soon.
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
      const told = await (await fetch(`${adminUrl}/readyz`)).text();
      for (const [reason, event] of [
        ['last-good configuration not written', 'last-good configuration not written'],
        ['records are dropped', 'request records dropped'],
      ] as const) {
        run.expectations.hold(told.includes(reason), `/readyz does not tell: ${reason}`);
        run.expectations.hold(await hasLogged(plane, event), `the log does not tell: ${event}`);
      }
      run.expectations.hold((await metric(adminUrl, LAST_GOOD)) > 0, `${LAST_GOOD} is 0`);
      const litter = await readdir(path.join(folder, 'spool'));
      run.expectations.hold(litter.length <= 1, `${litter.length} files lie in the spool`);
      await run.repair(async () => {
        await stack.restartNats();
        await world.changeArrives();
        await run.keysTaken();
      });
      const dropped = await metric(adminUrl, DROPPED);
      return await run.finish(
        { keysRefused: Infinity, recordsLost: dropped },
        `${dropped} records counted as dropped`,
      );
    } finally {
      await world.dataPlanes[0]?.stop();
      await world.restartDataPlane(0);
      await rm(folder, { recursive: true });
    }
  },
};
