import type { LoadShape } from '../load/wrk.ts';
import type { ManagedProcess } from '@gateway/local-stack/process/managed-process';

/** A proxy under test, running on the measured core and answering. */
export interface Peer {
  readonly name: string;
  readonly url: string;
  /** Value of the Authorization header of the load. */
  readonly authorization: string;
  readonly shape?: LoadShape;
  /** The root of what is accounted to it. */
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** Where a peer is started. */
export interface Site {
  /** Goes with the run. */
  readonly folder: string;
  /** Put before a command that runs on the measured core. */
  readonly launcher: readonly string[];
  readonly upstreamPort: number;
  readonly signal: AbortSignal;
}

export interface PeerKind {
  readonly name: string;
  /** What it stands on, such as `nginx 1.22.1`. */
  version(): Promise<string>;
  start(site: Site): Promise<Peer>;
}

/** A peer that is one process. */
export function plainPeer(name: string, port: number, process: ManagedProcess): Peer {
  return {
    name,
    url: `http://127.0.0.1:${port}/v1/proxy/orders`,
    // Nobody reads it here; it is sent so that all proxies get the same bytes.
    authorization: `Bearer gwt_${'0'.repeat(43)}`,
    pid: process.pid,
    stop: async () => {
      await process.stop();
    },
  };
}
