/**
 * What the work of the gateway costs a NATS server: idempotency keys (two changes of a key each), leases of
 * quotas (one change each) and heartbeats, which all data planes hear. `node bench/nats-units.ts`. A NATS of
 * its own; 127.0.0.1 only; ends by itself after some ten seconds.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startNats } from '@gateway/local-stack/nats';
import { systemClock as clock } from '@gateway/shared/clock';
import { connectNats } from '@gateway/shared/messaging/connection';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { usageOf } from './measure/process-tree.ts';

const SECONDS = 4;
const IN_FLIGHT = 32;
const QUOTAS = 200;
const LISTENERS = 50;
const log = createLogger('bench', 'error');
const signal = AbortSignal.timeout(60_000);

const folder = await mkdtemp(path.join(tmpdir(), 'gateway-nats-units-'));
await chmod(folder, 0o711);
const server = await startNats({ dataDir: folder, log: () => undefined });
const connectOne = () => connectNats({ url: server.url, name: 'bench', log, clock, signal });

/** Calls `work` from `IN_FLIGHT` sides for some seconds; prints the rate and the server's CPU time of each. */
async function measure(name: string, work: (turn: number) => Promise<number>): Promise<void> {
  const before = usageOf(server.pid).cpuUs;
  const startedMs = performance.now();
  let turn = 0;
  let count = 0;
  const side = async (): Promise<void> => {
    while (performance.now() - startedMs < SECONDS * 1000) count += await work((turn += 1));
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, side));
  const seconds = (performance.now() - startedMs) / 1000;
  const cpuUs = usageOf(server.pid).cpuUs - before;
  process.stdout.write(
    `${name}: ${(count / seconds).toFixed(0)}/s, NATS ${(cpuUs / count).toFixed(1)} µs CPU each\n`,
  );
}

try {
  const connection = await connectOne();
  const stream = { name: 'KV_bench', subjects: ['$KV.bench.>'], storage: 'file', discard: 'new' };
  const config = {
    ...stream,
    max_msgs_per_subject: 1,
    allow_direct: true,
    allow_rollup_hdrs: true,
  };
  await connection.request('$JS.API.STREAM.CREATE.KV_bench', JSON.stringify(config));
  const put = (key: string, value: Uint8Array) =>
    connection.request(`$KV.bench.${key}`, value, { timeout: 5000 });
  const claim = Buffer.alloc(320, 'x');
  const answer = Buffer.alloc(1200, 'x');
  await measure('idempotency keys, each claimed and then answered', async (turn) => {
    await put(`key-${turn}`, claim);
    await put(`key-${turn}`, answer);
    return 1;
  });
  const lease = Buffer.alloc(150, 'x');
  await measure('leases of 200 quotas', async (turn) => {
    await put(`quota-${turn % QUOTAS}`, lease);
    return 1;
  });
  const listeners = await Promise.all(Array.from({ length: LISTENERS }, connectOne));
  for (const listener of listeners)
    listener.subscribe('heartbeats.*', { callback: () => undefined });
  await Promise.all(listeners.map((listener) => listener.flush()));
  const heartbeat = Buffer.alloc(1000, 'x');
  await measure('deliveries of a heartbeat of 1000 bytes', async () => {
    connection.publish('heartbeats.one', heartbeat);
    await connection.flush();
    return LISTENERS;
  });
  await Promise.all([connection, ...listeners].map((one) => one.close()));
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
