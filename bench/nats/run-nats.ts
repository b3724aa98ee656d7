import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startNats } from '@gateway/local-stack/nats/start-nats';
import type { Server } from '@gateway/local-stack/process/managed-process';
import { systemClock as clock } from '@gateway/shared/clock';
import { connectNats } from '@gateway/shared/messaging/connection';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { usageOf } from '../measure/process-tree.ts';

const SECONDS = 4;
const IN_FLIGHT = 32;
const QUOTAS = 200;
const LISTENERS = 50;
/** Bytes of a stored claim, a stored response, a lease and a heartbeat. */
const CLAIM_BYTES = 320;
const RESPONSE_BYTES = 1200;
const LEASE_BYTES = 150;
const HEARTBEAT_BYTES = 1000;
const TIMEOUT_MS = 60_000;

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
export async function runNats(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-bench-nats-'));
  await chmod(folder, 0o711);
  const server = await startNats({ dataDir: folder, log: () => undefined });
  try {
    await measureAll(server);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureAll(server: Server): Promise<void> {
  const log = createLogger('bench', 'error');
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const connect = () => connectNats({ url: server.url, name: 'bench', log, clock, signal });
  const connection = await connect();
  await connection.request('$JS.API.STREAM.CREATE.KV_bench', JSON.stringify(STREAM));
  const put = (key: string, value: Uint8Array) =>
    connection.request(`$KV.bench.${key}`, value, { timeout: 5000 });
  const bytes = (length: number) => Buffer.alloc(length, 'x');

  await measure(server, 'idempotency keys, each claimed and then completed', async (turn) => {
    await put(`key-${turn}`, bytes(CLAIM_BYTES));
    await put(`key-${turn}`, bytes(RESPONSE_BYTES));
    return 1;
  });
  await measure(server, `leases of ${QUOTAS} quotas`, async (turn) => {
    await put(`quota-${turn % QUOTAS}`, bytes(LEASE_BYTES));
    return 1;
  });
  const listeners = await Promise.all(Array.from({ length: LISTENERS }, connect));
  for (const listener of listeners) {
    listener.subscribe('heartbeats.*', { callback: () => undefined });
  }
  await Promise.all(listeners.map((listener) => listener.flush()));
  await measure(server, `deliveries of a heartbeat of ${HEARTBEAT_BYTES} bytes`, async () => {
    connection.publish('heartbeats.one', bytes(HEARTBEAT_BYTES));
    await connection.flush();
    return LISTENERS;
  });
  await Promise.all([connection, ...listeners].map((one) => one.close()));
}

/**
 * Runs `work` in `IN_FLIGHT` parallel loops for some seconds; prints the rate and the server's CPU time of each unit.
 *
 * @param work returns how many units it did
 */
async function measure(
  server: Server,
  name: string,
  work: (turn: number) => Promise<number>,
): Promise<void> {
  const before = usageOf(server.pid).cpuUs;
  const startedMs = performance.now();
  let turn = 0;
  let count = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() - startedMs < SECONDS * 1000) count += await work((turn += 1));
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
  const seconds = (performance.now() - startedMs) / 1000;
  const cpuUs = usageOf(server.pid).cpuUs - before;
  process.stdout.write(
    `${name}: ${(count / seconds).toFixed(0)}/s, NATS ${(cpuUs / count).toFixed(1)} µs CPU each\n`,
  );
}
