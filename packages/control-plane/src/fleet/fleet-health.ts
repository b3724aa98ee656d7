import type {
  Heartbeat,
  ReportedServiceHealth,
  UnusableCredentials,
} from '@gateway/shared/heartbeats/heartbeat';
import { MISSED_HEARTBEATS } from '@gateway/shared/heartbeats/heartbeat';

export type ServiceStatus = 'unknown' | 'healthy' | 'degraded' | 'unhealthy';

interface Heard {
  readonly services: ReadonlyMap<string, ReportedServiceHealth>;
  readonly unusable: readonly UnusableCredentials[];
  readonly untilMs: number;
}

/** Whoever may write to NATS must not be able to fill a control plane's memory. */
const MAX_DATA_PLANES = 1000;
/** A data plane cannot claim to live for longer than this without a beat, ms. */
const MAX_LIFETIME_MS = 60_000;

/**
 * What the live data planes say of the services, from their heartbeats. A data plane that has missed
 * three beats no longer counts, whatever it said last.
 */
export class FleetHealth {
  readonly #heard = new Map<string, Heard>();

  /**
   * Takes a heartbeat, in place of the last one of that data plane. Gives whether there was room.
   *
   * @param nowMs by the monotonic clock of this process: the sender's clock counts for nothing
   */
  take(heartbeat: Heartbeat, nowMs: number): boolean {
    const { id, services, interval_ms: intervalMs } = heartbeat;
    if (!this.#heard.has(id) && this.#heard.size >= MAX_DATA_PLANES) {
      this.#forgetSilent(nowMs);
      if (this.#heard.size >= MAX_DATA_PLANES) return false;
    }
    this.#heard.set(id, {
      services: new Map(Object.entries(services)),
      unusable: heartbeat.unusable_credentials,
      untilMs: nowMs + Math.min(MAX_LIFETIME_MS, MISSED_HEARTBEATS * intervalMs),
    });
    return true;
  }

  /** The data plane has said that it leaves. */
  left(id: string): void {
    this.#heard.delete(id);
  }

  liveDataPlanes(nowMs: number): number {
    this.#forgetSilent(nowMs);
    return this.#heard.size;
  }

  /**
   * `unknown` where no live data plane has checked any upstream; `healthy` where all see every upstream
   * healthy that they have checked; `unhealthy` where none sees any; `degraded` in between.
   */
  statusOf(serviceId: string, nowMs: number): ServiceStatus {
    let healthy = 0;
    let failing = 0;
    for (const { services, untilMs } of this.#heard.values()) {
      const counts = untilMs < nowMs ? undefined : services.get(serviceId);
      healthy += counts?.[0] ?? 0;
      failing += counts?.[1] ?? 0;
    }
    if (failing === 0) return healthy === 0 ? 'unknown' : 'healthy';
    return healthy === 0 ? 'unhealthy' : 'degraded';
  }

  /** One line for each live data plane that cannot open credentials of upstreams: which, and for want of what. */
  credentialFaults(nowMs: number): readonly string[] {
    const faults: string[] = [];
    for (const [id, { unusable, untilMs }] of this.#heard) {
      if (untilMs < nowMs || unusable.length === 0) continue;
      const keys = unusable.map(({ key_id, reason, services }) => {
        return `${key_id} (${reason}, services: ${services})`;
      });
      faults.push(`data plane ${id} cannot open credentials sealed under ${keys.join(', ')}`);
    }
    return faults;
  }

  #forgetSilent(nowMs: number): void {
    for (const [id, { untilMs }] of this.#heard) if (untilMs < nowMs) this.#heard.delete(id);
  }
}
