import type { ChildProcess } from 'node:child_process';
import cluster from 'node:cluster';
import { pause, type Clock } from '@gateway/shared/clock';
import { toPrimarySchema, type Readiness, type ToPrimary, type ToWorker } from './messages.ts';
import { passWholeLines, type LineTarget } from './whole-lines.ts';
import { closeUndealtConnections, type UndealtOptions } from './undealt-connections.ts';
import type { WorkerEnd, WorkerNews, WorkerProcess } from './worker-group.ts';

/** The variable that tells a worker which one of its group it is. */
export const WORKER_VARIABLE = 'GATEWAY_WORKER';

/** A worker whose event loop does not come round to an answer is not waited for longer. */
const ANSWER_TIMEOUT_MS = 1000;

export interface ForkOptions extends UndealtOptions {
  readonly clock: Clock;
  /** Where the lines of all workers go. */
  readonly lines: LineTarget;
}

type Answer = Extract<ToPrimary, { id: number }>;

/**
 * Starts a worker: the same program, with the same options of Node. The primary holds the port and deals
 * the connections out by turns (docs/adr/0019).
 */
export function forkWorker(
  worker: number,
  onNews: (news: WorkerNews) => void,
  { clock, lines, ...undealt }: ForkOptions,
): WorkerProcess {
  cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const forked = cluster.fork({ [WORKER_VARIABLE]: String(worker) });
  const { process: child } = forked;
  const waiting = new Map<number, (answer: Answer) => void>();
  let asked = 0;
  closeUndealtConnections(child, undealt);
  if (child.stdout !== null) passWholeLines(child.stdout, lines);
  // A message that the other side does not take any more; its end is what counts.
  forked.on('error', () => undefined);
  forked.on('message', (message: unknown) => {
    const news = toPrimarySchema.parse(message);
    if ('id' in news) waiting.get(news.id)?.(news);
    else onNews(news);
  });

  function send(message: ToWorker): void {
    if (forked.isConnected()) forked.send(message);
  }

  async function ask(what: 'readiness' | 'metrics'): Promise<Answer | undefined> {
    const id = (asked += 1);
    const answered = Promise.withResolvers<Answer>();
    const over = new AbortController();
    waiting.set(id, answered.resolve);
    try {
      send({ kind: 'ask', id, what });
      const late = pause(clock, ANSWER_TIMEOUT_MS, over.signal).then(() => undefined);
      return await Promise.race([answered.promise, late]);
    } finally {
      over.abort();
      waiting.delete(id);
    }
  }

  return {
    pid: child.pid ?? 0,
    ended: endOf(child),
    tell: (kind) => send({ kind }),
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
 * How a process ends, once its output was read to the end too, which may be after its exit. An error of one
 * that runs is a message that it does not take any more: its end, if it is that, is still to come.
 */
export function endOf(child: ChildProcess): Promise<WorkerEnd> {
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: error.message });
    });
  });
}
