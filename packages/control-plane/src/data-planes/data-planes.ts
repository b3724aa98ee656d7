import {
  HEARTBEAT_LIFETIME_MS,
  MISSED_HEARTBEATS,
  type Heartbeat,
} from '@gateway/shared/heartbeats/heartbeat';
import type { KnownDataPlane } from './data-plane.ts';

/** A client with write access to NATS must not be able to fill the memory of a control plane. */
const MAX_DATA_PLANES = 1000;
/** The longest time for which a data plane counts as live after a heartbeat, whatever its interval, ms. */
const MAX_LIFETIME_MS = 60_000;
/** How long a silent data plane is listed as stale, ms. */
export const STALE_MS = 10 * 60_000;

/**
 * Higher versions of heartbeats are ignored: a client with write access to NATS must not be able to use up the numbers.
 */
const MAX_VERSION = Number.MAX_SAFE_INTEGER / 2;

/** `unknown`: no data plane is known to be live. */
export type RolloutState = 'complete' | 'behind' | 'unknown';

/**
 * The data planes that this process knows from their heartbeats. All times are of its own monotonic
 * clock; the clocks of the senders are ignored.
 */
export class DataPlanes {
  readonly #known = new Map<string, KnownDataPlane>();
  readonly #listeners = new Set<() => void>();
  #lastHeardMs: number | undefined;
  /** The last time without any heartbeat: NATS was away, and no data plane can be blamed. */
  #silence = { fromMs: -Infinity, toMs: -Infinity };
  #isRestored = false;

  /** The heartbeats that NATS stored before this process listened have been taken. */
  restored(): void {
    this.#isRestored = true;
    this.#notify();
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
    this.#notify();
    return true;
  }

  /** Removes a data plane that announced its stop. */
  remove(id: string): void {
    if (this.#known.delete(id)) this.#notify();
  }

  /** The live and the stale ones, ordered by id. */
  list(nowMs: number): readonly KnownDataPlane[] {
    this.#removeGone(nowMs);
    return [...this.#known.values()].sort((a, b) => (a.heartbeat.id < b.heartbeat.id ? -1 : 1));
  }

  /** Those that have not missed three heartbeats. */
  live(nowMs: number): readonly KnownDataPlane[] {
    return [...this.#known.values()].filter(({ liveUntilMs }) => liveUntilMs >= nowMs);
  }

  /** The newest version of the environment that a live data plane serves; 0 if none does. */
  newestVersion(environment: string, nowMs: number): number {
    let newest = 0;
    for (const { heartbeat, liveUntilMs } of this.#known.values()) {
      if (liveUntilMs < nowMs) continue;
      const version = heartbeat.config_versions[environment] ?? 0;
      if (version > newest && version <= MAX_VERSION) newest = version;
    }
    return newest;
  }

  /** Whether every live data plane serves these versions (environment → version) or newer ones. */
  rolloutState(versions: ReadonlyMap<string, number>, nowMs: number): RolloutState {
    if (!this.#isRestored) return 'unknown';
    let live = 0;
    for (const known of this.#known.values()) {
      if (!this.#mayBeLive(known, nowMs)) continue;
      live += 1;
      const served = known.heartbeat.config_versions;
      for (const [environment, version] of versions) {
        if ((served[environment] ?? 0) < version) return 'behind';
      }
    }
    return live === 0 ? 'unknown' : 'complete';
  }

  /**
   * Whether a live data plane cannot use one of these elements of these environments. An id that its heartbeat leaves out
   * for lack of room counts as one.
   *
   * @param ids undefined: any element
   */
  cannotUse(
    environments: Iterable<string>,
    ids: readonly string[] | undefined,
    nowMs: number,
  ): boolean {
    const live = this.live(nowMs);
    for (const environment of environments) {
      for (const { heartbeat } of live) {
        const count = heartbeat.unusable_counts[environment] ?? 0;
        if (count === 0) continue;
        const shown = heartbeat.unusable_elements.filter((one) => one.environment === environment);
        if (ids === undefined || shown.some(({ id }) => ids.includes(id))) return true;
        if (ids.length > 0 && shown.length < count) return true;
      }
    }
    return false;
  }

  /** Calls the listener after each heartbeat and each removal. @returns a function that unsubscribes */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Whether the data plane is live as far as this process can know. While NATS was away no heartbeat
   * came, so the data planes that were live before count until all live ones must have sent another.
   */
  #mayBeLive({ liveUntilMs }: KnownDataPlane, nowMs: number): boolean {
    const { fromMs, toMs } = this.#silence;
    const isRecovering = nowMs <= toMs + HEARTBEAT_LIFETIME_MS;
    return liveUntilMs >= (isRecovering ? Math.min(nowMs, fromMs) : nowMs);
  }

  /** Removes the data plane that has been silent longest if there is no room; live ones stay. */
  #makeRoom(nowMs: number): boolean {
    if (this.#known.size < MAX_DATA_PLANES) return true;
    this.#removeGone(nowMs);
    if (this.#known.size < MAX_DATA_PLANES) return true;
    const silent = [...this.#known.values()].filter((known) => !this.#mayBeLive(known, nowMs));
    const [oldest] = silent.sort((a, b) => a.liveUntilMs - b.liveUntilMs);
    return oldest !== undefined && this.#known.delete(oldest.heartbeat.id);
  }

  #removeGone(nowMs: number): void {
    for (const [id, { liveUntilMs }] of this.#known) {
      if (liveUntilMs + STALE_MS < nowMs) this.#known.delete(id);
    }
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
