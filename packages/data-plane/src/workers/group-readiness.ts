import type { Readiness } from './messages.ts';
import type { RunningWorker } from './worker-group.ts';

/** The readiness of one worker, with its number before each reason. */
interface WorkerReadiness extends Readiness {
  readonly serves: boolean;
  readonly answered: boolean;
}

/**
 * The readiness of a group. It is ready if at least one worker accepts connections and answers, and each worker that
 * accepts connections is ready. Problems of the other workers count as degraded.
 *
 * @param workers how many workers there should be
 */
export async function readinessOfGroup(
  running: readonly RunningWorker[],
  workers: number,
  stopping: boolean,
): Promise<Readiness> {
  const all = await Promise.all(running.map(readinessOfWorker));
  const serving = all.filter(({ serves }) => serves);
  const notReady: string[] = [];
  const degraded: string[] = [];
  if (stopping) notReady.push('stopping');
  if (serving.length === 0) notReady.push('no worker accepts connections');
  // The admin port of a single process in this state would not answer.
  else if (!serving.some(({ answered }) => answered)) {
    notReady.push('no worker that accepts connections answers');
  }
  if (serving.length < workers) {
    degraded.push(`${workers - serving.length} of ${workers} workers do not serve`);
  }
  for (const worker of all) {
    notReady.push(...worker.notReady);
    degraded.push(...worker.degraded);
  }
  return { notReady, degraded };
}

async function readinessOfWorker({
  worker,
  serves,
  process,
}: RunningWorker): Promise<WorkerReadiness> {
  const answer = await process.readiness();
  const named = (reasons: readonly string[]) =>
    reasons.map((reason) => `worker ${worker}: ${reason}`);
  if (answer === undefined) {
    return { serves, answered: false, notReady: [], degraded: named(['does not answer']) };
  }
  const notReady = named(answer.notReady);
  const degraded = named(answer.degraded);
  return serves
    ? { serves, answered: true, notReady, degraded }
    : { serves, answered: true, notReady: [], degraded: [...notReady, ...degraded] };
}
