import { fork, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { pause, type Clock } from '@gateway/shared/clock';
import type { FolderLock } from '../files/lock-folder.ts';
import type { Logger } from '@gateway/shared/telemetry/logger';
import {
  toPrimarySchema,
  type Assignment,
  type Readiness,
  type ToPrimary,
  type ToWorker,
} from './messages.ts';
import { passWholeLines, type LineTarget } from './whole-lines.ts';
import type { WorkerEnd, WorkerNews, WorkerProcess } from './worker-group.ts';

/** The environment variable with the number of a worker in its group. */
export const WORKER_VARIABLE = 'GATEWAY_WORKER';

/** Set for the worker whose start decides whether the group starts. */
export const STARTS_GROUP_VARIABLE = 'GATEWAY_STARTS_GROUP';

/** A worker that has not answered for a connection after this time is asked whether it received it. */
const CHECK_MS = 100;
/** A worker that does not answer within this time is treated as silent. */
const ANSWER_TIMEOUT_MS = 1000;

export interface ForkOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Where the log lines of all workers go. */
  readonly lines: LineTarget;
}

export interface LaunchOptions extends ForkOptions {
  /** The lock of the folder of the group; each worker holds it too. */
  readonly folder: FolderLock | undefined;
}

type Answer = Extract<ToPrimary, { id: number }>;

/**
 * Starts a worker: the same program, with the same options of Node.
 *
 * @param startsGroup whether the group does not start if this worker does not
 */
export function forkWorker(
  worker: number,
  startsGroup: boolean,
  onNews: (news: WorkerNews) => void,
  options: LaunchOptions,
): WorkerProcess {
  const { folder } = options;
  const [, program = '', ...args] = process.argv;
  const child = fork(program, args, {
    env: {
      ...process.env,
      [WORKER_VARIABLE]: String(worker),
      [STARTS_GROUP_VARIABLE]: startsGroup ? '1' : '',
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc', ...(folder ? [folder.fd] : [])],
  });
  return superviseWorker(child, worker, onNews, options);
}

/** Speaks with a worker process over its channel, and passes on its log lines. */
export function superviseWorker(
  child: ChildProcess,
  worker: number,
  onNews: (news: WorkerNews) => void,
  { clock, log, lines }: ForkOptions,
): WorkerProcess {
  const pending = new Map<number, (answer: Answer | undefined) => void>();
  const ended = endOf(child);
  let lastId = 0;
  if (child.stdout !== null) passWholeLines(child.stdout, lines);
  child.on('message', (message: unknown) => {
    const { success, data } = toPrimarySchema.safeParse(message);
    if (!success) log.error({ worker, worker_pid: child.pid }, 'malformed worker message ignored');
    else if ('id' in data) pending.get(data.id)?.(data);
    else onNews(data);
  });
  // All that the worker sent has been read.
  child.once('close', () => {
    for (const settle of pending.values()) settle(undefined);
  });

  /** The callback takes errors of a channel that has closed; the end of the worker says more. */
  function send(message: ToWorker, socket?: Socket): void {
    if (child.connected) child.send(message, socket, { keepOpen: true }, () => undefined);
  }

  async function ask(what: 'readiness' | 'metrics'): Promise<Answer | undefined> {
    const id = (lastId += 1);
    const answered = Promise.withResolvers<Answer | undefined>();
    const over = new AbortController();
    pending.set(id, answered.resolve);
    try {
      send({ kind: 'ask', id, what });
      const late = pause(clock, ANSWER_TIMEOUT_MS, over.signal).then(() => undefined);
      return await Promise.race([answered.promise, late]);
    } finally {
      over.abort();
      pending.delete(id);
    }
  }

  return {
    pid: child.pid ?? 0,
    ended,
    send: (kind) => send({ kind }),
    assign(socket) {
      const id = (lastId += 1);
      return new Promise<Assignment | 'ended'>((resolve) => {
        const check = clock.setTimer(CHECK_MS, () => send({ kind: 'connection_check', id }));
        const settle = (answer: Answer | undefined) => {
          check.cancel();
          pending.delete(id);
          resolve(answer?.kind === 'assigned' ? answer.result : 'ended');
        };
        if (!child.connected) {
          settle(undefined);
          return;
        }
        pending.set(id, settle);
        // `keepOpen`: the connection is still here if the worker declines it, or ends.
        send({ kind: 'connection', id }, socket);
      });
    },
    async readiness(): Promise<Readiness | undefined> {
      const answer = await ask('readiness');
      return answer?.kind === 'readiness' ? answer.readiness : undefined;
    },
    async metrics() {
      const answer = await ask('metrics');
      return answer?.kind === 'metrics' ? answer.text : undefined;
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

/**
 * Resolves when a process has ended and its output was read to the end. An `error` event of a running process is
 * a message that could not be sent to it, not its end.
 */
export function endOf(child: ChildProcess): Promise<WorkerEnd> {
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: error.message });
    });
  });
}
