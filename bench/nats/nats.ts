import { startNats } from '@gateway/local-stack/nats/start-nats';
import { systemClock as clock } from '@gateway/shared/clock';
import { connectNats } from '@gateway/shared/messaging/connection';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { command, whole } from '../command.ts';
import { usageOf } from '../measure/process-tree.ts';

const IN_FLIGHT = 32;
const QUOTAS = 200;
const LISTENERS = 50;
/** Bytes of a stored claim, a stored response, a lease and a heartbeat. */
const CLAIM_BYTES = 320;
const RESPONSE_BYTES = 1200;
const LEASE_BYTES = 150;
const HEARTBEAT_BYTES = 1000;

const STREAM = {
  name: 'KV_bench',
  subjects: ['$KV.bench.>'],
  storage: 'file',
  discard: 'new',
  max_msgs_per_subject: 1,
  allow_direct: true,
  allow_rollup_hdrs: true,
};

/**
 * Prints what the gateway's work costs a NATS server: idempotency keys (two changes of a key each), quota leases (one
 * change each) and heartbeats, which every data plane receives. Takes some ten seconds.
 */
export const nats = command({
  name: 'nats',
  summary: 'CPU time of NATS for an idempotency key, a quota lease and a heartbeat',
  options: { seconds: whole(4, [1, 60], 'length of each measurement') },
  async run(run, { seconds }) {
    const folder = await mkdtemp(path.join(tmpdir(), 'gateway-bench-nats-'));
    run.defer(() => rm(folder, { recursive: true, force: true }));
    await chmod(folder, 0o711);
    const server = await startNats({ dataDir: folder, log: () => undefined });
    run.defer(() => server.stop());
    const log = createLogger('bench', 'error');
    const connect = async () => {
      const { signal } = run;
      const made = await connectNats({ url: server.url, name: 'bench', log, clock, signal });
      run.defer(() => made.close());
      return made;
    };
    const connection = await connect();
    await connection.request('$JS.API.STREAM.CREATE.KV_bench', JSON.stringify(STREAM));
    const put = (key: string, length: number) =>
      connection.request(`$KV.bench.${key}`, Buffer.alloc(length, 'x'), { timeout: 5000 });

    /** Works in parallel loops; prints the rate and the server's CPU time of each unit. */
    const measure = async (
      name: string,
      units: number,
      work: (turn: number) => Promise<unknown>,
    ) => {
      const before = usageOf(server.pid).cpuUs;
      const startedMs = performance.now();
      let turns = 0;
      const loop = async (): Promise<void> => {
        while (performance.now() - startedMs < seconds * 1000) await work((turns += 1));
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
      const perSecond = (turns * units * 1000) / (performance.now() - startedMs);
      const cpuUs = (usageOf(server.pid).cpuUs - before) / (turns * units);
      process.stdout.write(
        `${name}: ${perSecond.toFixed(0)}/s, NATS ${cpuUs.toFixed(1)} µs CPU each\n`,
      );
    };
    await measure('idempotency keys, each claimed and then completed', 1, async (turn) => {
      await put(`key-${turn}`, CLAIM_BYTES);
      await put(`key-${turn}`, RESPONSE_BYTES);
    });
    await measure(`leases of ${QUOTAS} quotas`, 1, (turn) =>
      put(`quota-${turn % QUOTAS}`, LEASE_BYTES),
    );
    const listeners = await Promise.all(Array.from({ length: LISTENERS }, connect));
    for (const listener of listeners) {
      listener.subscribe('heartbeats.*', { callback: () => undefined });
    }
    await Promise.all(listeners.map((listener) => listener.flush()));
    const heartbeat = Buffer.alloc(HEARTBEAT_BYTES, 'x');
    const name = `deliveries of a heartbeat of ${HEARTBEAT_BYTES} bytes`;
    await measure(name, LISTENERS, () => {
      connection.publish('heartbeats.one', heartbeat);
      return connection.flush();
    });
  },
});
