import type { Clock } from '@gateway/shared/clock';
import { QUOTA_FLEET } from '@gateway/shared/messaging/names';
import type { NatsLink } from '../../nats/nats-link.ts';
import { StreamValues } from '../../nats/stream-values.ts';
import { decodeFleet, encodeFleet, type Fleet } from './fleet.ts';
import type { FleetStore } from './stored-fleet.ts';
import { ANSWER_MS, kvWriteResult, type WriteResult } from '../../nats/kv-write.ts';

/** The fleet in a bucket of NATS KV. */
export class KvFleetStore implements FleetStore {
  readonly #link: NatsLink;
  readonly #values: StreamValues;

  constructor(link: NatsLink, clock: Clock) {
    this.#link = link;
    this.#values = new StreamValues(link, clock);
  }

  get reachable(): boolean {
    return this.#link.connection !== undefined;
  }

  async read(): Promise<{ fleet: Fleet | undefined; revision: number }> {
    const { revision, value } = await this.#values.read(QUOTA_FLEET, ANSWER_MS);
    return { fleet: value === undefined ? undefined : decodeFleet(value), revision };
  }

  write(fleet: Fleet, revision: number): Promise<WriteResult> {
    const value = encodeFleet(fleet);
    return kvWriteResult(this.#values.write(QUOTA_FLEET, value, revision, ANSWER_MS));
  }
}
