import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '@nats-io/transport-node';
import { natsBinary } from './binary.ts';
import { freePort } from '../process/free-port.ts';
import { startProcess, type Server } from '../process/managed-process.ts';
import { waitUntilReady } from '../process/wait-until-ready.ts';

export interface NatsOptions {
  /** Folder of JetStream's files; created if it does not exist. */
  readonly dataDir: string;
  /** On 127.0.0.1; by default a free port. */
  readonly port?: number;
  readonly logFile?: string;
  /** Configuration file of nats-server; by default the one of the local stack. */
  readonly settingsFile?: string;
  /** Name of the server, which a server of a cluster must keep; by default a random one. */
  readonly name?: string;
  /** Credentials of the readiness check, if the configuration file requires some. */
  readonly access?: { readonly user: string; readonly pass: string; readonly ca: string };
  /** Added to the server's environment. */
  readonly env?: NodeJS.ProcessEnv;
  /** Aborts the start and stops what it has started. */
  readonly signal?: AbortSignal;
  /** Called with one line before each long step. */
  readonly log: (line: string) => void;
}

const localSettings = fileURLToPath(new URL('../../../../deploy/nats/local.conf', import.meta.url));

/** Whether JetStream answers, which it does once its files are read, on the server with this name. */
async function answers(url: string, name: string, access: NatsOptions['access']): Promise<boolean> {
  const { ca, ...user } = access ?? {};
  const secure = ca === undefined ? {} : { tls: { ca } };
  const connection = await connect({
    servers: url,
    timeout: 2000,
    reconnect: false,
    ...user,
    ...secure,
  });
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
 * @throws {StartError} of one line
 */
export async function startNats(options: NatsOptions): Promise<Server> {
  const { dataDir, env = {}, signal, settingsFile = localSettings, access } = options;
  await mkdir(dataDir, { recursive: true });
  const binary = await natsBinary(dataDir, options);
  signal?.throwIfAborted();
  const port = options.port ?? (await freePort());
  const store = path.join(dataDir, 'jetstream');
  const name = options.name ?? `gateway-local-${randomUUID()}`;
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
