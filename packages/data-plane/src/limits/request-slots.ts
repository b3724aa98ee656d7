import { Bulkheads, FairSlots } from './bulkheads.ts';

/** The settings of the slots, by the names of their environment variables. */
export interface SlotSettings {
  readonly WORKERS: number;
  readonly MAX_IN_FLIGHT_REQUESTS: number;
  readonly MAX_WEBSOCKETS: number;
  readonly MAX_UNAUTHENTICATED_REQUESTS: number;
}

/** The slots of the data path. Each kind has its own, so that none can use up those of another. */
export interface RequestSlots {
  readonly requests: Bulkheads;
  readonly websockets: Bulkheads;
  /** Of requests that wait for the keys of their issuer, shared by issuer. */
  readonly unauthenticated: FairSlots;
}

/** Makes the slots; all are free. */
export function createRequestSlots(config: SlotSettings): RequestSlots {
  const processes = config.WORKERS;
  return {
    requests: new Bulkheads({ max: config.MAX_IN_FLIGHT_REQUESTS, processes }),
    websockets: new Bulkheads({ max: config.MAX_WEBSOCKETS, processes }),
    unauthenticated: new FairSlots(config.MAX_UNAUTHENTICATED_REQUESTS),
  };
}
