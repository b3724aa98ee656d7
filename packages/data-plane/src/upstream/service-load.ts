/** What is under way for one service: the base of its retry budget. */
export interface ServiceLoad {
  liveRequests: number;
  liveRetries: number;
}

/** Counts what is under way for each service; a service with nothing under way takes no room. */
export class ServiceLoads {
  readonly #loads = new Map<string, ServiceLoad>();

  /** A request for the service begins; `leave` must follow. */
  enter(serviceId: string): ServiceLoad {
    let load = this.#loads.get(serviceId);
    if (load === undefined) {
      load = { liveRequests: 0, liveRetries: 0 };
      this.#loads.set(serviceId, load);
    }
    load.liveRequests += 1;
    return load;
  }

  leave(serviceId: string, load: ServiceLoad): void {
    load.liveRequests -= 1;
    if (load.liveRequests === 0) this.#loads.delete(serviceId);
  }
}
