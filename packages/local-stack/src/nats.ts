import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '@nats-io/transport-node';
import { natsBinary } from './nats/binary.ts';
import { freePort } from './process/free-port.ts';
import { startProcess } from './process/managed-process.ts';
import { waitUntilReady } from './process/wait-until-ready.ts';
import type { Server } from './server.ts';

export interface NatsOptions {
  /** Where JetStream keeps its files, made when it is not there. */
  readonly dataDir: string;
  /** On 127.0.0.1; a free one unless given. */
  readonly port?: number;
  readonly logFile?: string;
  /** In place of that of the local stack. */
  readonly settingsFile?: string;
  /** For the look whether it answers, as `connect` takes them, where the settings ask for some. */
  readonly access?: { readonly user: string; readonly pass: string; readonly ca: string };
  /** Added to the server's environment. */
  readonly env?: NodeJS.ProcessEnv;
  /** Breaks the start off; nothing of it goes on then. */
  readonly signal?: AbortSignal;
  /** Told one line before each long step. */
  readonly log: (line: string) => void;
}

const localSettings = fileURLToPath(new URL('../../../deploy/nats/local.conf', import.meta.url));

/** Whether JetStream of the server of that name answers, as it does after its files were read. */
async function answers(url: string, name: string, access: NatsOptions['access']): Promise<boolean> {
  const { ca, ...user } = access ?? {};
  const secure = ca === undefined ? {} : { tls: { ca } };
  const patience = { timeout: 2000, reconnect: false };
  const connection = await connect({ servers: url, ...patience, ...user, ...secure });
  try {
    if (connection.info?.server_name !== name) return false;
    const reply = await connection.request('$JS.API.INFO', '', { timeout: 2000 });
    return !reply.string().includes('"error"');
  } finally {
    await connection.close();
  }
}

/**
 * Starts nats-server with JetStream on 127.0.0.1 and resolves when JetStream answered.
 *
 * @throws {StartError} with one clear line
 */
export async function startNats(options: NatsOptions): Promise<Server> {
  const { dataDir, env = {}, signal, settingsFile = localSettings, access } = options;
  await mkdir(dataDir, { recursive: true });
  const binary = await natsBinary(dataDir, options);
  signal?.throwIfAborted();
  const port = options.port ?? (await freePort());
  const store = path.join(dataDir, 'jetstream');
  const name = `gateway-local-${randomUUID()}`;
  const server = await startProcess({
    name: 'nats',
    command: binary,
    args: ['-c', settingsFile, '-n', name, '-a', '127.0.0.1', '-p', String(port), '-sd', store],
    env: { PATH: process.env['PATH'], ...env },
    logFile: options.logFile ?? path.join(dataDir, 'nats.log'),
  });
  const url = `nats://127.0.0.1:${port}`;
  await waitUntilReady(server, {
    check: () => answers(url, name, access),
    timeoutMs: 30_000,
    signal,
  });
  return {
    url,
    pid: server.pid,
    port,
    process: server,
    stop: async () => {
      await server.stop();
    },
  };
}
