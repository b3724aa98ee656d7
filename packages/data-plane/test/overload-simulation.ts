/** What decides in one data plane whether a request may be sent. */
export interface SimulatedLimit {
  readonly limit: number;
  begin(): boolean;
  end(latencyMs: number | undefined, nowMs: number): void;
  abandon(waitedMs: number, nowMs: number): void;
}

export interface SimulationOptions {
  /** Makes the limits of the data planes, each of which gets an equal part of the requests. */
  readonly limits: (nowMs: () => number) => readonly SimulatedLimit[];
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  /** How many requests the upstream works on at a time; the others wait in its queue. */
  readonly workers: (nowMs: number) => number;
  readonly workMs: (nowMs: number, random: () => number) => number;
  readonly requestsPerSecond: (nowMs: number) => number;
  /** Callers leave after this time. The upstream does not notice, and works on the request all the same. */
  readonly deadlineMs: number;
}

/** What the callers saw in one second. */
export interface SimulatedSecond {
  refused: number;
  /** Callers that left. */
  left: number;
  /** Of the responses that came in time. */
  readonly latenciesMs: number[];
  /** The limit of the first data plane at the end of the second. */
  limit: number;
}

interface Call {
  readonly limit: SimulatedLimit;
  readonly sentMs: number;
  doneMs: number;
  isOver: boolean;
}

const MS = 1000;

/** Data planes in front of an upstream with workers and a queue. Requests arrive at random, whatever becomes of them. */
export class OverloadSimulation {
  nowMs = 0;
  readonly seconds: SimulatedSecond[] = [];
  readonly #options: SimulationOptions;
  readonly #limits: readonly SimulatedLimit[];
  readonly #queue: Call[] = [];
  readonly #running: Call[] = [];
  /** In the order in which their callers leave. */
  readonly #open: Call[] = [];
  #arrivalMs = 0;
  #arrivals = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#limits = options.limits(() => this.nowMs);
  }

  /** Continues for so many seconds, and returns what happened in them. */
  run(seconds: number): readonly SimulatedSecond[] {
    const from = this.seconds.length;
    const end = from + seconds;
    while (this.seconds.length < end) {
      const second: SimulatedSecond = { refused: 0, left: 0, latenciesMs: [], limit: 0 };
      this.seconds.push(second);
      while (this.#step(second, this.seconds.length * MS)) this.#work();
      this.nowMs = this.seconds.length * MS;
      second.limit = this.#limits[0]?.limit ?? 0;
    }
    return this.seconds.slice(from);
  }

  /** The next event before this time; false if there is none. */
  #step(second: SimulatedSecond, untilMs: number): boolean {
    const { deadlineMs } = this.#options;
    while (this.#open[0]?.isOver === true) this.#open.shift();
    const leaving = this.#open[0];
    let done: Call | undefined;
    for (const call of this.#running) {
      if (done === undefined || call.doneMs < done.doneMs) done = call;
    }
    const doneMs = done?.doneMs ?? Infinity;
    const leaveMs = leaving === undefined ? Infinity : leaving.sentMs + deadlineMs;
    const nextMs = Math.min(this.#arrivalMs, doneMs, leaveMs);
    if (nextMs >= untilMs) return false;
    this.nowMs = nextMs;
    if (done !== undefined && nextMs === doneMs) this.#respond(done, second);
    else if (leaving !== undefined && nextMs === leaveMs) this.#leave(leaving, second);
    else this.#arrive(second);
    return true;
  }

  #arrive(second: SimulatedSecond): void {
    const { random, requestsPerSecond } = this.#options;
    const limit = this.#limits[this.#arrivals % this.#limits.length];
    this.#arrivals += 1;
    if (limit?.begin() === true) {
      const call = { limit, sentMs: this.nowMs, doneMs: Infinity, isOver: false };
      this.#queue.push(call);
      this.#open.push(call);
    } else second.refused += 1;
    this.#arrivalMs -= (Math.log(1 - random()) / requestsPerSecond(this.nowMs)) * MS;
  }

  #work(): void {
    const { workers, workMs, random } = this.#options;
    while (this.#running.length < workers(this.nowMs)) {
      const call = this.#queue.shift();
      if (call === undefined) return;
      call.doneMs = this.nowMs + workMs(this.nowMs, random);
      this.#running.push(call);
    }
  }

  #respond(call: Call, second: SimulatedSecond): void {
    this.#running.splice(this.#running.indexOf(call), 1);
    if (call.isOver) return;
    call.isOver = true;
    const latencyMs = this.nowMs - call.sentMs;
    call.limit.end(latencyMs, this.nowMs);
    second.latenciesMs.push(latencyMs);
  }

  #leave(call: Call, second: SimulatedSecond): void {
    call.isOver = true;
    call.limit.abandon(this.nowMs - call.sentMs, this.nowMs);
    second.left += 1;
  }
}
