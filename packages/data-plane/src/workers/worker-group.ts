import { backOffMs, type Clock, type Timer } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { watchForHang, type HangWatch } from './hang-watch.ts';
import type { Readiness } from './messages.ts';

/** How a process ended; one of the two is set. */
export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A worker that runs. */
export interface WorkerProcess {
  readonly pid: number;
  /** Resolves when it has ended and all that it wrote was read; never rejects. */
  readonly ended: Promise<WorkerEnd>;
  tell(what: 'stop' | 'reload' | 'ping'): void;
  /** Both give undefined where it does not answer in time. */
  readiness(): Promise<Readiness | undefined>;
  metrics(): Promise<string | undefined>;
  kill(): void;
}

/** A process of a group, by its place in it. */
export interface RunningWorker {
  readonly worker: number;
  /** It takes connections. */
  readonly serves: boolean;
  readonly process: WorkerProcess;
}

/** What a worker says by itself. */
export type WorkerNews =
  | { readonly kind: 'serving' | 'leaving' | 'alive' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface WorkerGroupOptions {
  readonly workers: number;
  readonly launch: (worker: number, onNews: (news: WorkerNews) => void) => WorkerProcess;
  readonly clock: Clock;
  /** A worker that has served, and does not answer for so long, is killed and replaced, ms. */
  readonly hangTimeoutMs: number;
  /** Gives numbers in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** Counts a worker that took the place of one that ended. */
  readonly restarted: (why: RestartReason) => void;
}

/** Why another took the place of a worker. */
export type RestartReason = 'crashed' | 'stopped' | 'hung';

export type WorkerState = 'starting' | 'serving' | 'leaving' | 'waiting';

/** A place in the group: it has one process at a time, or waits for the next. */
interface Place {
  readonly worker: number;
  state: WorkerState;
  process: WorkerProcess | undefined;
  servingSinceMs: number | undefined;
  /** While a process serves, or leaves. */
  watch: HangWatch | undefined;
  hung: boolean;
  /** Crashes in a row. */
  crashes: number;
  failedStart: string | undefined;
  timer: Timer | undefined;
}

const BACK_OFF = { firstMs: 200, maxMs: 30_000 };
/** A worker that served for so long was well; what ends it is no crash in a row. */
const WELL_MS = 60_000;

/**
 * Keeps a number of workers running. One that ends is followed by another: at once where somebody
 * stopped it, with back-off where it crashed.
 */
export class WorkerGroup {
  readonly #options: WorkerGroupOptions;
  readonly #places: readonly Place[];
  #started = false;
  #stopping = false;

  constructor(options: WorkerGroupOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.workers }, (_, index) => ({
      worker: index + 1,
      state: 'waiting',
      process: undefined,
      servingSinceMs: undefined,
      watch: undefined,
      hung: false,
      crashes: 0,
      failedStart: undefined,
      timer: undefined,
    }));
  }

  /**
   * Starts the first worker, and once that serves the others: what keeps one from serving keeps all
   * of them, and is said once.
   *
   * @throws Error with the reason of the first worker where it does not get to serve
   */
  async start(): Promise<void> {
    const [first, ...others] = this.#places;
    if (first === undefined) throw new Error('a group has at least one worker');
    const served = Promise.withResolvers<undefined>();
    const process = this.#launch(first, () => served.resolve(undefined));
    const end = await Promise.race([served.promise, process.ended]);
    if (end !== undefined && !this.#stopping) {
      throw new Error(first.failedStart ?? `worker 1 ended while it started: ${describe(end)}`);
    }
    this.#started = true;
    if (this.#stopping) return;
    for (const place of others) this.#launch(place);
  }

  /** How many places are in this state. */
  count(state: WorkerState): number {
    return this.#places.filter((place) => place.state === state).length;
  }

  /** Every worker that runs, with whether it takes connections. */
  get running(): readonly RunningWorker[] {
    return this.#places.flatMap(({ worker, state, process }) =>
      process === undefined ? [] : [{ worker, serves: state === 'serving', process }],
    );
  }

  reload(): void {
    for (const { process } of this.running) process.tell('reload');
  }

  /** Lets all drain and waits for them; those that have not ended after `timeoutMs` are killed. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping = true;
    const { clock, log } = this.#options;
    for (const { timer } of this.#places) timer?.cancel();
    const running = this.running;
    const late = clock.setTimer(timeoutMs, () => {
      for (const { worker, process } of this.running) {
        log.error({ worker, worker_pid: process.pid }, 'a worker did not stop in time');
        process.kill();
      }
    });
    for (const { process } of running) process.tell('stop');
    await Promise.all(running.map(({ process }) => process.ended));
    late.cancel();
  }

  #launch(place: Place, onServing: () => void = () => undefined): WorkerProcess {
    const { launch, clock, log } = this.#options;
    const { worker } = place;
    place.state = 'starting';
    place.failedStart = undefined;
    place.servingSinceMs = undefined;
    place.hung = false;
    const process = launch(worker, (news) => {
      if (news.kind === 'failed') place.failedStart = news.reason;
      else if (news.kind === 'alive') place.watch?.heard();
      else place.state = news.kind;
      if (news.kind !== 'serving') return;
      place.servingSinceMs = clock.monotonicMs();
      log.info({ worker, worker_pid: process.pid }, 'a worker serves');
      place.watch = this.#watch(place, process);
      onServing();
    });
    place.process = process;
    void process.ended.then((end) => this.#ended(place, process, end));
    return process;
  }

  #watch(place: Place, process: WorkerProcess): HangWatch {
    const { clock, log, hangTimeoutMs: timeoutMs } = this.#options;
    const { worker } = place;
    return watchForHang({
      ...{ clock, timeoutMs },
      ask: () => process.tell('ping'),
      hangs(silentMs) {
        const said = { worker, worker_pid: process.pid, silent_ms: Math.round(silentMs) };
        log.error(said, 'a worker hangs, and is killed');
        place.hung = true;
        process.kill();
      },
    });
  }

  #ended(place: Place, process: WorkerProcess, end: WorkerEnd): void {
    const { clock, log, restarted } = this.#options;
    place.watch?.stop();
    place.watch = undefined;
    place.process = undefined;
    place.state = 'waiting';
    if (this.#stopping || !this.#started) return;
    const { worker, servingSinceMs, hung } = place;
    const said = { worker, worker_pid: process.pid, how: describe(end) };
    if (end.code === 0) {
      place.crashes = 0;
      log.info(said, 'a worker was stopped; another takes its place');
      restarted('stopped');
      this.#launch(place);
      return;
    }
    const wasWell = clock.monotonicMs() - (servingSinceMs ?? Infinity) >= WELL_MS;
    place.crashes = wasWell ? 1 : place.crashes + 1;
    const delayMs = backOffMs(place.crashes, BACK_OFF, this.#options.random());
    log.error({ ...said, restart_in_ms: Math.round(delayMs) }, 'a worker crashed');
    place.timer = clock.setTimer(delayMs, () => {
      restarted(hung ? 'hung' : 'crashed');
      this.#launch(place);
    });
  }
}

function describe({ code, signal }: WorkerEnd): string {
  return signal ?? `exit code ${code ?? '?'}`;
}
