import { HEARTBEAT_LIFETIME_MS } from '@gateway/shared/heartbeats/heartbeat';
import type { Logger } from '@gateway/shared/telemetry/logger';

/** Whoever may write to NATS must not be able to fill a data plane's memory. */
const MAX_DUPLICATES = 100;
/** The start of a heartbeat, which holds `started_at_ms`: only the short format, id and region precede it. */
const HEAD_BYTES = 512;
const STARTED_AT = /"started_at_ms":(\d+)/;
/** A process that this one replaces may be heard once more. */
const MIN_BEATS = 2;

interface Duplicate {
  beats: number;
  heardAtMs: number;
}

/**
 * Detects other processes that publish heartbeats under this data plane's id, by their start times. The rest
 * of the fleet counts them as one data plane, so while NATS is away each of them grants the whole share of
 * one, and an old configuration of one of them is not visible.
 */
export class DuplicateIds {
  readonly #id: string;
  readonly #startedAtMs: number;
  readonly #log: Logger;
  readonly #heard = new Map<number, Duplicate>();
  #logged = false;

  constructor(id: string, startedAtMs: number, log: Logger) {
    this.#id = id;
    this.#startedAtMs = startedAtMs;
    this.#log = log;
  }

  /** Whether a heartbeat under this id is from this process. One without a start time counts as its own. */
  isOwn(heartbeat: Uint8Array, nowMs: number): boolean {
    const head = Buffer.from(heartbeat.subarray(0, HEAD_BYTES)).toString('latin1');
    const startedAtMs = Number(STARTED_AT.exec(head)?.[1] ?? this.#startedAtMs);
    if (startedAtMs !== this.#startedAtMs) this.#note(startedAtMs, nowMs);
    this.#forget(nowMs);
    return startedAtMs === this.#startedAtMs;
  }

  /** Live processes with the same id, without this one. */
  get count(): number {
    let count = 0;
    for (const { beats } of this.#heard.values()) if (beats >= MIN_BEATS) count += 1;
    return count;
  }

  /** What the operator should do; undefined while no other process has this id. */
  get problem(): string | undefined {
    const { count } = this;
    if (count === 0) return undefined;
    const who = count === 1 ? 'another data plane has' : `${count} other data planes have`;
    return `${who} the id ${this.#id}: give each data plane its own DATA_PLANE_ID`;
  }

  #note(startedAtMs: number, nowMs: number): void {
    const known = this.#heard.get(startedAtMs);
    if (known === undefined && this.#heard.size >= MAX_DUPLICATES) return;
    this.#heard.set(startedAtMs, { beats: (known?.beats ?? 0) + 1, heardAtMs: nowMs });
    if (this.#logged || this.count === 0) return;
    this.#logged = true;
    this.#log.error(
      { data_plane: this.#id, others: this.count },
      'duplicate data plane id: give each data plane its own DATA_PLANE_ID',
    );
  }

  #forget(nowMs: number): void {
    for (const [startedAtMs, { heardAtMs }] of this.#heard) {
      if (nowMs - heardAtMs > HEARTBEAT_LIFETIME_MS) this.#heard.delete(startedAtMs);
    }
    if (this.count === 0) this.#logged = false;
  }
}
