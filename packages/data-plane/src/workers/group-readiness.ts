import type { Readiness } from './messages.ts';
import type { RunningWorker } from './worker-group.ts';

/**
 * Whether a group is ready: where at least one worker takes connections and answers, and each that does is
 * ready. What is wrong with the others is told beside it.
 *
 * @param workers how many there should be
 */
export async function readinessOfGroup(
  running: readonly RunningWorker[],
  workers: number,
  stopping: boolean,
): Promise<Readiness> {
  const told = await Promise.all(
    running.map(async ({ worker, serves, process }) => {
      const answer = await process.readiness();
      const said = (reasons: readonly string[]) =>
        reasons.map((reason) => `worker ${worker}: ${reason}`);
      if (answer === undefined) {
        return { serves, answers: false, notReady: [], degraded: said(['does not answer']) };
      }
      const notReady = said(answer.notReady);
      const degraded = said(answer.degraded);
      return serves
        ? { serves, answers: true, notReady, degraded }
        : { serves, answers: true, notReady: [], degraded: [...notReady, ...degraded] };
    }),
  );
  const serving = told.filter(({ serves }) => serves);
  return {
    notReady: [
      ...(stopping ? ['stopping'] : []),
      ...(serving.length === 0 ? ['no worker takes connections'] : []),
      // As of a process without workers, whose admin port would be silent.
      ...(serving.length > 0 && !serving.some(({ answers }) => answers)
        ? ['no worker that takes connections answers']
        : []),
      ...told.flatMap(({ notReady }) => notReady),
    ],
    degraded: [
      ...(serving.length < workers
        ? [`${workers - serving.length} of ${workers} workers do not serve`]
        : []),
      ...told.flatMap(({ degraded }) => degraded),
    ],
  };
}
