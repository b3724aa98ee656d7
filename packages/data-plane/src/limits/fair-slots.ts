import { Loads, type Load } from './load.ts';

/** With 12, one tenant alone gets three quarters of the slots, and n that take all they get leave about 1/(12 n) free. */
const SHARE_OF_SQUARE = 12;

/**
 * A bounded number of requests, shared fairly. A tenant may take another slot only while it holds fewer than 12 × f² of
 * the slots, where f is the part of the slots that is free. The fewer are free, the fewer a tenant may hold, so those
 * that hold the most are refused first, and some slots stay free for those that hold few. Choudhury and Hahne, "Dynamic
 * Queue Length Thresholds for Shared-Memory Packet Switches" (1998), use a multiple of f; docs/adr/0028 says why not here.
 */
export class FairSlots {
  readonly max: number;
  readonly #tenants = new Loads();
  #taken = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** Slots in use. */
  get count(): number {
    return this.#taken;
  }

  get isFull(): boolean {
    return this.#taken >= this.max;
  }

  /** The slots of a tenant. */
  loadOf(id: string): Load {
    return this.#tenants.of(id);
  }

  /** Whether the tenant may take another slot. */
  hasRoomFor(tenant: Load): boolean {
    const free = this.max - this.#taken;
    return tenant.count * this.max < SHARE_OF_SQUARE * free * free;
  }

  /** Takes a slot for a tenant that may take one. The caller registers `release` and the `release` of the tenant. */
  take(tenant: Load): void {
    this.#taken += 1;
    tenant.take();
  }

  /** Returns a slot. Bound, so that a request can register it as its release without an allocation. */
  readonly release = (): void => {
    this.#taken -= 1;
  };
}
