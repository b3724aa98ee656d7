import { eventually } from '@gateway/shared/test/eventually';
import type { Client } from '../../harness/client.ts';
import {
  isFailed,
  isKeyRefused,
  startClientLoad,
  type ClientLoad,
  type ClientLoadOptions,
  type LoadAnswer,
} from './client-load.ts';
import { Expectations, type FaultResult } from './scenario.ts';
import { countRecords } from './stored-records.ts';

export interface FaultRunOptions extends ClientLoadOptions {
  readonly fault: string;
  /** Calls a control plane to read the records. */
  readonly management: Client;
  /** How long after the load records may still arrive; 60 s by default. */
  readonly recordsMs?: number;
}

/** What a fault may cost; 0 by default. */
export interface Promised {
  readonly failed?: number;
  readonly keysRefused?: number;
  readonly recordsLost?: number;
  /** Records that a data plane counted as dropped, so that the run does not wait for them. */
  readonly recordsDropped?: number;
}

const RECORDS_MS = 60_000;
const KEYS = { deadlineMs: 60_000 };
/** Responses that each client must receive before a fault, and after its repair. */
const STEADY_ANSWERS = 25;

/**
 * One fault under load: begin, break something, `outage`, `repair`, `finish`. Failed expectations
 * are collected in `expectations`.
 */
export class FaultRun {
  readonly load: ClientLoad;
  readonly expectations = new Expectations();
  /** The name of the route for the GETs. */
  readonly getRoute: string;
  readonly #options: FaultRunOptions;
  readonly #beganAtMs = Date.now();
  #lastedSeconds: number | undefined;
  #recoverySeconds: number | undefined;

  private constructor(options: FaultRunOptions) {
    this.#options = options;
    this.getRoute = options.getRoute;
    this.load = startClientLoad(options);
  }

  /** Starts the load. */
  static start(options: FaultRunOptions): FaultRun {
    return new FaultRun(options);
  }

  /** Resolves when both clients are steadily served. */
  steady(): Promise<void> {
    return this.load.more(STEADY_ANSWERS);
  }

  /** Lets the fault last for this long, or this much longer, under load. */
  async outage(durationMs: number): Promise<void> {
    await this.load.goOn(durationMs);
    this.#lastedSeconds = (this.#lastedSeconds ?? 0) + durationMs / 1000;
  }

  /** @param work resolves when the fault is repaired */
  async repair(work: () => Promise<unknown>): Promise<void> {
    const beganAtMs = performance.now();
    await work();
    this.#recoverySeconds = (performance.now() - beganAtMs) / 1000;
    await this.load.more(STEADY_ANSWERS);
  }

  /** Resolves when a request with a key that was sent after this call has succeeded. */
  async keysTaken(): Promise<void> {
    const fromMs = performance.now();
    const isTaken = (answer: LoadAnswer) =>
      answer.kind === 'keyed' && answer.sentAtMs >= fromMs && !isKeyRefused(answer);
    await eventually(() => {
      if (!this.load.answers.some(isTaken)) throw new Error('keys are still refused');
    }, KEYS);
  }

  /** Ends the load, counts the records, and compares all figures with the limits. */
  async finish(
    promised: Promised = {},
    note?: string | ((lost: readonly LoadAnswer[]) => string),
  ): Promise<FaultResult> {
    await this.load.stop();
    const { answers } = this.load;
    const failed = answers.filter(isFailed);
    const keysRefused = answers.filter(isKeyRefused).length;
    const ids = answers.flatMap(({ requestId }) => (requestId === '' ? [] : [requestId]));
    const { management, recordsMs = RECORDS_MS, fault } = this.#options;
    const { missing, doubled } = await countRecords(
      management,
      ids,
      this.#beganAtMs,
      recordsMs,
      promised.recordsDropped,
    );
    const why = [
      ...new Set(
        failed.map(({ kind, status, errorCode }) => `${kind} ${status} ${errorCode ?? ''}`),
      ),
    ];
    this.expectations.hold(
      failed.length <= (promised.failed ?? 0),
      `${failed.length} requests failed: ${why.join(', ')}`,
    );
    this.expectations.hold(
      keysRefused <= (promised.keysRefused ?? 0),
      `${keysRefused} keys were refused`,
    );
    this.expectations.hold(
      missing.length <= (promised.recordsLost ?? 0),
      `${missing.length} records were lost`,
    );
    this.expectations.hold(
      doubled.length === 0,
      `${doubled.length} records are there more than once`,
    );
    return {
      row: {
        fault,
        lastedSeconds: this.#lastedSeconds,
        requests: answers.length,
        failed: failed.length,
        keysRefused,
        recordsLost: missing.length,
        recoverySeconds: this.#recoverySeconds,
        note: typeof note === 'function' ? note(withoutRecord(answers, missing)) : note,
      },
      problems: this.expectations.problems,
    };
  }
}

function withoutRecord(
  answers: readonly LoadAnswer[],
  missing: readonly string[],
): readonly LoadAnswer[] {
  const ids = new Set(missing);
  return answers.filter(({ requestId }) => ids.has(requestId));
}
