import { totalmem } from 'node:os';
import type { Clock } from '@gateway/shared/clock';
import { processUseSchema, type ProcessUse } from '@gateway/shared/heartbeats/process-use';
import type { EventLoopDelay } from '@gateway/shared/telemetry/process-metrics';

/** Where the figures of a process come from. */
export interface ProcessFigures {
  /** CPU time of all of its threads since its start, in user and system mode, µs. */
  cpuMicros(): number;
  residentBytes(): number;
  /** The memory limit of its cgroup; 0 or more than the machine has: none. */
  memoryLimitBytes(): number;
  /** Memory of the machine. */
  machineBytes(): number;
  /** The longest delay of the event loop since the last call, ms. */
  takeLongestDelayMs(): number;
}

/** Reads the figures of this process. */
export function ownProcess(eventLoop: EventLoopDelay): ProcessFigures {
  return {
    cpuMicros() {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    residentBytes: () => process.memoryUsage.rss(),
    memoryLimitBytes: () => process.constrainedMemory(),
    machineBytes: totalmem,
    takeLongestDelayMs: () => eventLoop.takeLongestMs(),
  };
}

/** Heartbeats may follow each other within a few ms, over which the use of a CPU says nothing. */
const MIN_PERIOD_MS = 1000;
/** A limit seldom changes, and is read from files. */
const LIMIT_EVERY_MS = 60_000;
const CPU_DIGITS = 10_000;

/** Measures what a process uses, for its heartbeats. */
export class ProcessUseMeter {
  readonly #figures: ProcessFigures;
  readonly #clock: Clock;
  #fromMs: number;
  #fromMicros: number;
  #period: Pick<ProcessUse, 'process_cpu_ratio' | 'event_loop_delay_ms'> = {
    process_cpu_ratio: null,
    event_loop_delay_ms: null,
  };
  #limit: { readonly bytes: number | null; readonly untilMs: number } | undefined;

  constructor(figures: ProcessFigures, clock: Clock) {
    this.#figures = figures;
    this.#clock = clock;
    this.#fromMs = clock.monotonicMs();
    this.#fromMicros = figures.cpuMicros();
  }

  /**
   * Returns what the process uses. CPU and delay are those of the time since the last call, or of the period before if
   * that was less than a second ago; null within the first second. All values are within the bounds of a heartbeat.
   */
  read(): ProcessUse {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#fromMs >= MIN_PERIOD_MS) this.#endPeriod(nowMs);
    // What the schema would refuse becomes null here, not only where it is read.
    return processUseSchema.parse({
      ...this.#period,
      process_resident_memory_bytes: this.#figures.residentBytes(),
      memory_limit_bytes: this.#limitBytes(nowMs),
    });
  }

  #endPeriod(nowMs: number): void {
    const micros = this.#figures.cpuMicros();
    const ratio = (micros - this.#fromMicros) / 1000 / (nowMs - this.#fromMs);
    this.#period = {
      process_cpu_ratio: Math.round(ratio * CPU_DIGITS) / CPU_DIGITS,
      event_loop_delay_ms: Math.round(this.#figures.takeLongestDelayMs()),
    };
    this.#fromMs = nowMs;
    this.#fromMicros = micros;
  }

  #limitBytes(nowMs: number): number | null {
    if (this.#limit === undefined || nowMs >= this.#limit.untilMs) {
      const bytes = this.#figures.memoryLimitBytes();
      const isLimit = bytes > 0 && bytes <= this.#figures.machineBytes();
      this.#limit = { bytes: isLimit ? bytes : null, untilMs: nowMs + LIMIT_EVERY_MS };
    }
    return this.#limit.bytes;
  }
}
