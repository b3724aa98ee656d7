import type { Site } from '../lab/site.ts';
import type { FurtherCommand } from '../lab/tools.ts';
import type { LoadOutcome } from '../load/outcome.ts';
import type { Peer, PeerKind } from '../peers/peer.ts';

/** How much of a load is run, and where. */
interface Turn {
  /** A part of the load, from 0 to 1: short loads warm a row up. */
  readonly part: number;
  /** Of the run; a load may keep files in its folder. */
  readonly site: Site;
}

/** What a load holds open during a turn. */
export interface Held {
  /** A figure of the workload's own, see `Workload.ownFigure`. */
  readonly ownFigure?: number;
  /** How many connections of it were closed during the turn; each counts as failed. */
  closed?(): number;
  readonly release: () => void;
}

/** One load of a workload: a few lines of its table, one for each proxy. */
export interface WorkloadLoad {
  readonly name: string;
  /** Makes what a turn needs, such as open connections. Its CPU time is not measured. */
  open?(peer: Peer, site: Site): Promise<Held>;
  run(peer: Peer, turn: Turn): Promise<LoadOutcome>;
  /** Whether `open` takes seconds and warms the row up, so that one turn without a measurement is enough. */
  readonly opensWarm?: boolean;
}

/** Proxies that take turns under the same loads. Each workload has a table in docs/understand/benchmarks.md. */
export interface Workload {
  /** As the command line names it. */
  readonly name: string;
  /** What the CPU time is divided by, such as `MiB`. */
  readonly unit: string;
  /** What the loads do, for the line below the table. */
  readonly description: string;
  /** Commands that its loads need beside those of every run. */
  readonly tools: readonly FurtherCommand[];
  /** `nginx` answers all requests alike; `node` has bodies, events and WebSockets. */
  readonly upstream: 'nginx' | 'node';
  /** nginx, the reference, is the first. */
  readonly peers: readonly PeerKind[];
  readonly loads: readonly WorkloadLoad[];
  /** A column that only this workload has. */
  readonly ownFigure?: { readonly head: string; readonly format: (value: number) => string };
}
