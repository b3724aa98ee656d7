import { backOffMs, type Clock, type Timer } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { ConnectionWorker } from './connection-assigner.ts';
import { watchForHang, type HangWatch } from './hang-watch.ts';
import type { Readiness } from './messages.ts';

/** How a process ended; one of the two is set. */
export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A running worker. */
export interface WorkerProcess extends ConnectionWorker {
  readonly pid: number;
  /** Resolves when the process has ended and its output was read to the end; never rejects. */
  readonly ended: Promise<WorkerEnd>;
  /** Sends a message to the worker. */
  send(what: 'stop' | 'reload' | 'ping'): void;
  /** Both resolve with undefined if the worker does not answer in time. */
  readiness(): Promise<Readiness | undefined>;
  metrics(): Promise<string | undefined>;
  kill(): void;
}

/** A running worker and its number. */
export interface RunningWorker {
  readonly worker: number;
  /** Whether it accepts connections. */
  readonly serves: boolean;
  readonly process: WorkerProcess;
}

/** What a worker reports without being asked. */
export type WorkerNews =
  | { readonly kind: 'serving' | 'leaving' | 'alive' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface WorkerGroupOptions {
  readonly workers: number;
  /** @param startsGroup whether the group does not start if this worker does not */
  readonly launch: (
    worker: number,
    onNews: (news: WorkerNews) => void,
    startsGroup: boolean,
  ) => WorkerProcess;
  readonly clock: Clock;
  /** A worker that has served and does not answer for this long is killed and replaced, ms. */
  readonly hangTimeoutMs: number;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** Counts a worker that replaces one that ended. */
  readonly restarted: (why: RestartReason) => void;
  /** Gets the workers that accept connections. */
  readonly connections: {
    add(worker: ConnectionWorker): void;
    remove(worker: ConnectionWorker): void;
  };
}

/** Why a worker was replaced. */
export type RestartReason = 'crashed' | 'stopped' | 'hung';

export type WorkerState = 'starting' | 'serving' | 'leaving' | 'waiting';

/** A place in the group: it has one process at a time, or waits until the next is started. */
interface WorkerSlot {
  readonly worker: number;
  state: WorkerState;
  process: WorkerProcess | undefined;
  servingSinceMs: number | undefined;
  /** Set while a process serves or leaves. */
  watch: HangWatch | undefined;
  hung: boolean;
  /** Consecutive crashes. */
  crashes: number;
  failedStart: string | undefined;
  timer: Timer | undefined;
}

const BACK_OFF = { firstMs: 200, maxMs: 30_000 };
/** After serving for this long, a crash counts as the first one again. */
const STABLE_MS = 60_000;

/**
 * Keeps a number of workers running. A worker that ends is replaced: at once if it was stopped, with back-off if it
 * crashed.
 */
export class WorkerGroup {
  readonly #options: WorkerGroupOptions;
  readonly #places: readonly WorkerSlot[];
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
   * Starts the first worker, and the others once it serves: an error that prevents one worker from serving prevents
   * all of them, and is reported once.
   *
   * @param onServing runs when the first worker serves, before the others are started
   * @throws Error with the reason if the first worker does not get to serve
   */
  async start(onServing: () => Promise<void>): Promise<void> {
    const [first, ...others] = this.#places;
    if (first === undefined) throw new Error('a group has at least one worker');
    const served = Promise.withResolvers<undefined>();
    const process = this.#launch(first, () => served.resolve(undefined));
    const end = await Promise.race([served.promise, process.ended]);
    if (end !== undefined && !this.#stopping) {
      throw new Error(first.failedStart ?? `worker 1 ended during its start: ${describe(end)}`);
    }
    if (!this.#stopping) await onServing();
    this.#started = true;
    if (this.#stopping) return;
    // One that ended meanwhile is replaced like any other.
    if (first.process === undefined) this.#launch(first);
    for (const place of others) this.#launch(place);
  }

  /** The number of places in this state. */
  count(state: WorkerState): number {
    return this.#places.filter((place) => place.state === state).length;
  }

  /** The running workers. */
  get running(): readonly RunningWorker[] {
    return this.#places.flatMap(({ worker, state, process }) =>
      process === undefined ? [] : [{ worker, serves: state === 'serving', process }],
    );
  }

  /** Lets all workers read the certificate files again. */
  reload(): void {
    for (const { process } of this.running) process.send('reload');
  }

  /** Lets all workers drain, waits for their end, and kills those that have not ended after `timeoutMs`. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping = true;
    const { clock, log } = this.#options;
    for (const { timer } of this.#places) timer?.cancel();
    const running = this.running;
    const late = clock.setTimer(timeoutMs, () => {
      for (const { worker, process } of this.running) {
        log.error({ worker, worker_pid: process.pid }, 'worker killed: not stopped in time');
        process.kill();
      }
    });
    for (const { process } of running) process.send('stop');
    await Promise.all(running.map(({ process }) => process.ended));
    late.cancel();
  }

  #launch(place: WorkerSlot, onServing: () => void = () => undefined): WorkerProcess {
    const { launch, clock, log, connections } = this.#options;
    const { worker } = place;
    place.state = 'starting';
    place.failedStart = undefined;
    place.servingSinceMs = undefined;
    place.hung = false;
    const onNews = (news: WorkerNews) => {
      if (news.kind === 'failed') place.failedStart = news.reason;
      else if (news.kind === 'alive') place.watch?.answered();
      else place.state = news.kind;
      if (news.kind === 'leaving') connections.remove(process);
      if (news.kind !== 'serving') return;
      place.servingSinceMs = clock.monotonicMs();
      log.info({ worker, worker_pid: process.pid }, 'worker serving');
      place.watch = this.#watch(place, process);
      connections.add(process);
      onServing();
    };
    const process = launch(worker, onNews, !this.#started);
    place.process = process;
    void process.ended.then((end) => this.#ended(place, process, end));
    return process;
  }

  #watch(place: WorkerSlot, process: WorkerProcess): HangWatch {
    const { clock, log, hangTimeoutMs: timeoutMs } = this.#options;
    const { worker } = place;
    return watchForHang({
      clock,
      timeoutMs,
      ping: () => process.send('ping'),
      onHang(silentMs) {
        const fields = { worker, worker_pid: process.pid, silent_ms: Math.round(silentMs) };
        log.error(fields, 'worker killed: event loop blocked');
        place.hung = true;
        process.kill();
      },
    });
  }

  #ended(place: WorkerSlot, process: WorkerProcess, end: WorkerEnd): void {
    const { clock, log, restarted, connections } = this.#options;
    connections.remove(process);
    place.watch?.stop();
    place.watch = undefined;
    place.process = undefined;
    place.state = 'waiting';
    if (this.#stopping || !this.#started) return;
    const { worker, servingSinceMs, hung } = place;
    const fields = { worker, worker_pid: process.pid, how: describe(end) };
    if (end.code === 0) {
      place.crashes = 0;
      log.info(fields, 'worker stopped; starting another');
      restarted('stopped');
      this.#launch(place);
      return;
    }
    const wasStable = clock.monotonicMs() - (servingSinceMs ?? Infinity) >= STABLE_MS;
    place.crashes = wasStable ? 1 : place.crashes + 1;
    const delayMs = backOffMs(place.crashes, BACK_OFF, this.#options.random());
    log.error({ ...fields, restart_in_ms: Math.round(delayMs) }, 'worker crashed; restarting');
    place.timer = clock.setTimer(delayMs, () => {
      restarted(hung ? 'hung' : 'crashed');
      this.#launch(place);
    });
  }
}

function describe({ code, signal }: WorkerEnd): string {
  return signal ?? `exit code ${code ?? '?'}`;
}
