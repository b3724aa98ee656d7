import { HEARTBEAT_LIFETIME_MS } from '@gateway/shared/heartbeats/heartbeat';
import type { Logger } from '@gateway/shared/telemetry/logger';

/** Whoever may write to NATS must not be able to fill a data plane's memory. */
const MAX_NAMESAKES = 100;
/** Where a heartbeat says when its process began: within id and region, which are short. */
const HEAD_BYTES = 512;
const STARTED_AT = /"started_at_ms":(\d+)/;
/** The one that this process takes the place of may be heard once more. */
const MIN_BEATS = 2;

interface Namesake {
  beats: number;
  heardAtMs: number;
}

/**
 * Other processes that beat under this data plane's id, told apart by when they began. To everybody else
 * they are one data plane: its part of a quota is granted by each while NATS is away, and nobody sees
 * which of them is behind.
 */
export class Namesakes {
  readonly #id: string;
  readonly #startedAtMs: number;
  readonly #log: Logger;
  readonly #heard = new Map<number, Namesake>();
  #told = false;

  constructor(id: string, startedAtMs: number, log: Logger) {
    this.#id = id;
    this.#startedAtMs = startedAtMs;
    this.#log = log;
  }

  /** A heartbeat under this id: whether it is of this very process, or does not say whose it is. */
  isOwn(heartbeat: Uint8Array, nowMs: number): boolean {
    const head = Buffer.from(heartbeat.subarray(0, HEAD_BYTES)).toString('latin1');
    const startedAtMs = Number(STARTED_AT.exec(head)?.[1] ?? this.#startedAtMs);
    if (startedAtMs !== this.#startedAtMs) this.#note(startedAtMs, nowMs);
    this.#forget(nowMs);
    return startedAtMs === this.#startedAtMs;
  }

  /** Those that live now. */
  get count(): number {
    let count = 0;
    for (const { beats } of this.#heard.values()) if (beats >= MIN_BEATS) count += 1;
    return count;
  }

  /** What an operator is to do; undefined where this process is the only one of its id. */
  get problem(): string | undefined {
    const { count } = this;
    if (count === 0) return undefined;
    const who = count === 1 ? 'another data plane has' : `${count} other data planes have`;
    return `${who} the id ${this.#id}: give each a DATA_PLANE_ID of its own`;
  }

  #note(startedAtMs: number, nowMs: number): void {
    const known = this.#heard.get(startedAtMs);
    if (known === undefined && this.#heard.size >= MAX_NAMESAKES) return;
    this.#heard.set(startedAtMs, { beats: (known?.beats ?? 0) + 1, heardAtMs: nowMs });
    if (this.#told || this.count === 0) return;
    this.#told = true;
    this.#log.error({ data_plane: this.#id }, this.problem);
  }

  #forget(nowMs: number): void {
    for (const [startedAtMs, { heardAtMs }] of this.#heard) {
      if (nowMs - heardAtMs > HEARTBEAT_LIFETIME_MS) this.#heard.delete(startedAtMs);
    }
    if (this.count === 0) this.#told = false;
  }
}
