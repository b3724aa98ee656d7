import type { ManagedProcess } from '@gateway/local-stack/process/managed-process';
import type { Site } from '../lab/site.ts';
import type { FurtherCommand } from '../lab/tools.ts';
import type { LoadShape } from '../load/wrk.ts';

/** A proxy under test. It runs on the measured core and answers. */
export interface Peer {
  readonly name: string;
  readonly url: string;
  /** Value of the Authorization header of the load. */
  readonly authorization: string;
  readonly shape?: LoadShape;
  /** The process whose CPU time and memory are measured, with all its descendants. */
  readonly pid: number;
  /** A server that it waits for and that is not measured. */
  readonly helperPid?: number;
  readonly stop: () => Promise<void>;
}

/** A row of the tables, before it is started. */
export interface PeerKind {
  readonly name: string;
  /** A command that it needs beside those of every run. */
  readonly needs?: FurtherCommand;
  /** What is measured, such as `nginx 1.22.1`. */
  version(): Promise<string>;
  start(site: Site): Promise<Peer>;
}

/** A peer that is one process. */
export function plainPeer(name: string, baseUrl: string, process: ManagedProcess): Peer {
  return {
    name,
    url: `${baseUrl}/v1/proxy/orders`,
    // These peers do not check it. It is sent so that all proxies get the same bytes.
    authorization: `Bearer gwt_${'0'.repeat(43)}`,
    pid: process.pid,
    stop: async () => {
      await process.stop();
    },
  };
}
