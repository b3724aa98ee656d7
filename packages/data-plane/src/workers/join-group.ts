import cluster from 'node:cluster';
import type { AdminServer, AdminServerOptions } from '@gateway/shared/telemetry/admin-server';
import { integerVariable } from '@gateway/shared/config/environment';
import type { Registry } from 'prom-client';
import { WORKER_VARIABLE } from './fork-worker.ts';
import { toWorkerSchema, type ToPrimary } from './messages.ts';

type AdminAnswers = Pick<AdminServerOptions, 'notReady' | 'degraded'> & {
  readonly registry: Registry;
};

/** The group that this process is a worker of. */
export interface JoinedGroup {
  /** Which worker of the group this is, from 1. */
  readonly worker: number;
  /** Answers the primary, as the admin port of a process without a group answers its callers. */
  answer(admin: AdminAnswers): AdminServer;
  /** Tells the primary that connections are taken. */
  serving(): void;
  /** Tells the primary why the start failed. */
  failed(error: unknown): void;
}

const workerNumber = integerVariable(1, 999);

/**
 * Joins the group where this process was started as a worker of one; undefined where it was not. From
 * then on the primary's word to stop is SIGTERM to this process. So is the primary's end: nothing new
 * would come any more, and what is in flight is to be finished.
 */
export function joinGroup(): JoinedGroup | undefined {
  const { worker: self } = cluster;
  if (self === undefined) return undefined;
  const worker = workerNumber.parse(process.env[WORKER_VARIABLE]);
  let admin: AdminAnswers | undefined;

  function send(message: ToPrimary): void {
    if (process.connected) process.send?.(message);
  }

  // Who stops a whole process group reaches a worker directly, and again through the primary.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => send({ kind: 'leaving' }));
  }
  self.on('error', () => undefined);
  self.on('disconnect', () => {
    // Else node:cluster ends the process at once.
    self.exitedAfterDisconnect = true;
    process.emit('SIGTERM', 'SIGTERM');
  });
  process.on('message', (value: unknown) => {
    const message = toWorkerSchema.parse(value);
    if (message.kind === 'stop') process.emit('SIGTERM', 'SIGTERM');
    else if (message.kind === 'reload') process.emit('SIGHUP', 'SIGHUP');
    else if (message.kind === 'ping') send({ kind: 'alive' });
    else if (message.what === 'readiness') {
      const notReady = admin?.notReady() ?? ['it starts'];
      const readiness = { notReady: [...notReady], degraded: [...(admin?.degraded?.() ?? [])] };
      send({ kind: 'readiness', id: message.id, readiness });
    } else {
      void metricsText(admin?.registry).then((text) => {
        send({ kind: 'metrics', id: message.id, text });
      });
    }
  });

  return {
    worker,
    answer(options) {
      options.registry.setDefaultLabels({ worker: String(worker) });
      admin = options;
      return { port: 0, close: () => Promise.resolve() };
    },
    serving: () => send({ kind: 'serving' }),
    failed: (error) => {
      send({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
    },
  };
}

/** Where they cannot be had, a comment that says so. */
async function metricsText(registry: Registry | undefined): Promise<string> {
  try {
    return (await registry?.metrics()) ?? '';
  } catch (error) {
    return `# metrics are missing: ${String(error).replaceAll('\n', ' ')}\n`;
  }
}
