import {
  HEARTBEAT_LIFETIME_MS,
  MISSED_HEARTBEATS,
  type Heartbeat,
} from '@gateway/shared/heartbeats/heartbeat';
import type { KnownDataPlane } from '../domain/data-plane.ts';

/** Whoever may write to NATS must not be able to fill a control plane's memory. */
const MAX_DATA_PLANES = 1000;
/** A data plane cannot claim to live for longer than this without a beat, ms. */
const MAX_LIFETIME_MS = 60_000;
/** For how long one that has gone silent without a word is shown as stale, ms. */
export const FORGOTTEN_AFTER_MS = 10 * 60_000;

/** `none`: no data plane is known to live, so nothing says that anybody serves anything. */
export type RolloutJudgement = 'everywhere' | 'behind' | 'none';

/**
 * Which data planes there are and which version of each environment they serve, from their heartbeats.
 * Times are those of the monotonic clock of this process: the senders' clocks count for nothing.
 */
export class DataPlanes {
  readonly #known = new Map<string, KnownDataPlane>();
  readonly #listeners = new Set<() => void>();
  #lastHeardMs: number | undefined;
  /** The last time when nobody was heard for so long that it says nothing of anyone. */
  #silence = { fromMs: -Infinity, toMs: -Infinity };
  #isComplete = false;

  /** What other processes knew before this one listened is known as well. */
  complete(): void {
    this.#isComplete = true;
    this.#tell();
  }

  /**
   * Stores a heartbeat in place of the data plane's last one.
   *
   * @param heardMs earlier than `nowMs` if NATS stored it before this process listened
   * @returns false if there is no room for another data plane
   */
  take(heartbeat: Heartbeat, nowMs: number, heardMs = nowMs): boolean {
    const { id, interval_ms: intervalMs } = heartbeat;
    const lastHeardMs = this.#lastHeardMs ?? nowMs;
    if (nowMs - lastHeardMs > HEARTBEAT_LIFETIME_MS) {
      this.#silence = { fromMs: lastHeardMs, toMs: nowMs };
    }
    this.#lastHeardMs = nowMs;
    if (!this.#known.has(id) && !this.#makeRoom(nowMs)) return false;
    const lifetimeMs = Math.min(MAX_LIFETIME_MS, MISSED_HEARTBEATS * intervalMs);
    this.#known.set(id, { heartbeat, heardMs, liveUntilMs: heardMs + lifetimeMs });
    this.#tell();
    return true;
  }

  /** The data plane has said that it leaves. */
  left(id: string): void {
    if (this.#known.delete(id)) this.#tell();
  }

  /** All that are known, those that went silent lately included, by id. */
  list(nowMs: number): readonly KnownDataPlane[] {
    this.#forgetGone(nowMs);
    return [...this.#known.values()].sort((a, b) => (a.heartbeat.id < b.heartbeat.id ? -1 : 1));
  }

  /** Those that have not missed three heartbeats. */
  live(nowMs: number): readonly KnownDataPlane[] {
    return [...this.#known.values()].filter(({ liveUntilMs }) => liveUntilMs >= nowMs);
  }

  /** Whether every live data plane serves these versions, or newer ones: environment → version. */
  judge(versions: ReadonlyMap<string, number>, nowMs: number): RolloutJudgement {
    if (!this.#isComplete) return 'none';
    let live = 0;
    for (const known of this.#known.values()) {
      if (!this.#counts(known, nowMs)) continue;
      live += 1;
      const served = known.heartbeat.config_versions;
      for (const [environment, version] of versions) {
        if ((served[environment] ?? 0) < version) return 'behind';
      }
    }
    return live === 0 ? 'none' : 'everywhere';
  }

  /** Calls with each heartbeat, and with each data plane that leaves. Gives what ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Whether it lives as far as can be known. When NATS was away nobody was heard, so those that lived
   * before count for as long as it takes until all who still live were heard again.
   */
  #counts({ liveUntilMs }: KnownDataPlane, nowMs: number): boolean {
    const { fromMs, toMs } = this.#silence;
    const isRecovering = nowMs <= toMs + HEARTBEAT_LIFETIME_MS;
    return liveUntilMs >= (isRecovering ? Math.min(nowMs, fromMs) : nowMs);
  }

  /** Forgets the one that has been silent for longest if there is no room; live ones stay. */
  #makeRoom(nowMs: number): boolean {
    if (this.#known.size < MAX_DATA_PLANES) return true;
    this.#forgetGone(nowMs);
    if (this.#known.size < MAX_DATA_PLANES) return true;
    const silent = [...this.#known.values()].filter((known) => !this.#counts(known, nowMs));
    const [oldest] = silent.sort((a, b) => a.liveUntilMs - b.liveUntilMs);
    return oldest !== undefined && this.#known.delete(oldest.heartbeat.id);
  }

  #forgetGone(nowMs: number): void {
    for (const [id, { liveUntilMs }] of this.#known) {
      if (liveUntilMs + FORGOTTEN_AFTER_MS < nowMs) this.#known.delete(id);
    }
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
