import { messageOf } from '@gateway/shared/errors/message-of';
import type { Socket } from 'node:net';
import type { AdminServer, AdminServerOptions } from '@gateway/shared/telemetry/admin-server';
import { integerVariable } from '@gateway/shared/config/environment';
import type { Registry } from 'prom-client';
import { STARTS_GROUP_VARIABLE, WORKER_VARIABLE } from './fork-worker.ts';
import { toWorkerSchema, type ToPrimary } from './messages.ts';

type AdminAnswers = Pick<AdminServerOptions, 'notReady' | 'degraded'> & {
  readonly registry: Registry;
};

/** The group that this process is a worker of. */
export interface JoinedGroup {
  /** The number of this worker in the group, from 1. */
  readonly worker: number;
  /** Whether the group does not start if this worker does not. Later workers must start where earlier ones serve. */
  readonly startsGroup: boolean;
  /** Answers the primary, as the admin port of a single process answers its callers. */
  answer(admin: AdminAnswers): AdminServer;
  /**
   * Passes the connections that the primary assigns to this worker on to `serve`, until the returned function is
   * called. From then on the worker declines connections, and the primary assigns them to other workers.
   */
  readonly acceptConnections: (serve: (socket: Socket) => void) => () => void;
  /** Reports to the primary that connections are accepted. */
  serving(): void;
  /** Reports to the primary why the start failed. */
  failed(error: unknown): void;
}

const workerNumber = integerVariable(1, 999);

/**
 * Joins the group if this process was started as a worker of one; otherwise returns undefined. A `stop` message of the
 * primary then has the effect of SIGTERM. So has the end of the primary: no new connection would arrive, and requests
 * in flight are finished.
 */
export function joinGroup(): JoinedGroup | undefined {
  const variable = process.env[WORKER_VARIABLE];
  if (variable === undefined || process.send === undefined) return undefined;
  const worker = workerNumber.parse(variable);
  let admin: AdminAnswers | undefined;
  let serve: ((socket: Socket) => void) | undefined;
  /** Id of the connection that was received last. */
  let lastConnection = 0;

  function send(message: ToPrimary): void {
    // The callback takes errors of a channel that the primary's end has closed.
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  }

  /** Decides at once: in the next turn of the event loop the socket would have read from the connection. */
  function connectionArrived(id: number, socket: Socket | undefined): void {
    if (socket === undefined) return;
    lastConnection = id;
    send({ kind: 'assigned', id, result: serve === undefined ? 'declined' : 'accepted' });
    if (serve !== undefined) serve(socket);
    // Closes the descriptor of this process alone.
    else socket.destroy();
  }

  function answerQuestion(id: number, what: 'readiness' | 'metrics'): void {
    if (what === 'readiness') {
      const notReady = [...(admin?.notReady() ?? ['starting'])];
      const degraded = [...(admin?.degraded?.() ?? [])];
      send({ kind: 'readiness', id, readiness: { notReady, degraded } });
      return;
    }
    void metricsText(admin?.registry).then((text) => {
      send({ kind: 'metrics', id, text });
    });
  }

  // A signal to the whole process group reaches a worker directly, and a second time through the primary.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => send({ kind: 'leaving' }));
  }
  process.on('disconnect', () => process.emit('SIGTERM', 'SIGTERM'));
  process.on('message', (value: unknown, socket: unknown) => {
    const message = toWorkerSchema.parse(value);
    if (message.kind === 'connection') {
      connectionArrived(message.id, socket as Socket | undefined);
    } else if (message.kind === 'connection_check') {
      const { id } = message;
      // Messages arrive in order, so a connection that was received has been answered.
      if (id !== lastConnection) send({ kind: 'assigned', id, result: 'not_received' });
    } else if (message.kind === 'stop') process.emit('SIGTERM', 'SIGTERM');
    else if (message.kind === 'reload') process.emit('SIGHUP', 'SIGHUP');
    else if (message.kind === 'ping') send({ kind: 'alive' });
    else answerQuestion(message.id, message.what);
  });

  return {
    worker,
    startsGroup: process.env[STARTS_GROUP_VARIABLE] === '1',
    answer(options) {
      options.registry.setDefaultLabels({ worker: String(worker) });
      admin = options;
      return { port: 0, close: () => Promise.resolve() };
    },
    acceptConnections(take) {
      serve = take;
      return () => {
        serve = undefined;
      };
    },
    serving: () => send({ kind: 'serving' }),
    failed: (error) => {
      send({ kind: 'failed', reason: messageOf(error) });
    },
  };
}

/** The metrics as text, or a comment with the reason if they cannot be collected. */
async function metricsText(registry: Registry | undefined): Promise<string> {
  try {
    return (await registry?.metrics()) ?? '';
  } catch (error) {
    return `# metrics are missing: ${String(error).replaceAll('\n', ' ')}\n`;
  }
}
