import type { Lab } from '../lab/lab.ts';
import type { LoadOutcome } from '../measure/round.ts';
import { runWrk, type Load } from '../load/wrk.ts';
import { gateway, type GatewayStart } from '../peers/gateway.ts';
import type { Peer, PeerKind } from '../peers/peer.ts';
import { caddy, haproxy, nginx, type ServerOptions } from '../peers/servers.ts';

/** What a load holds open during a turn. */
export interface Held {
  /** A figure of the workload's own, see `Workload.ownFigure`. */
  readonly ownFigure?: number;
  /** The load of the turn, if it needs what is held; otherwise `WorkloadLoad.run` is. */
  run?(part: number): Promise<LoadOutcome>;
  /** How many connections of it were closed during the turn; each counts as failed. */
  closed?(): number;
  release?(): void;
}

/** One load of a workload: a few lines of its table, one for each proxy. */
export interface WorkloadLoad {
  readonly name: string;
  /** Makes what a turn needs, such as open connections. Its CPU time is not measured. */
  open?(peer: Peer, lab: Lab): Promise<Held>;
  /** @param part of the load, from 0 to 1: a part of it comes before each turn and is not measured */
  run?(peer: Peer, part: number, lab: Lab): Promise<LoadOutcome>;
  /** How a row is warmed up; by default by some turns. */
  warmUp?(peer: Peer, lab: Lab): Promise<unknown>;
}

/** Proxies that take turns under the same loads. */
export interface Workload {
  /** As the command line names it. */
  readonly name: string;
  /** What the CPU time is divided by, such as `MiB`. */
  readonly unit: string;
  /** What the loads do, for the line below the table. */
  readonly description: string;
  /** `nginx` answers all requests alike; `node` has bodies, events and WebSockets. */
  readonly upstream: 'nginx' | 'node';
  /** The first row, which the ratios are taken against; nginx by default. */
  readonly reference?: string;
  readonly peers: readonly PeerKind[];
  readonly loads: readonly WorkloadLoad[];
  /** A column that only this workload has. */
  readonly ownFigure?: { readonly head: string; readonly format: (value: number) => string };
}

/** All proxies of a workload, nginx first. */
export function proxies(options: ServerOptions = {}, started: GatewayStart = {}): PeerKind[] {
  const { secure = false } = options;
  return [nginx(options), haproxy(options), caddy(options), gateway({ secure, ...started })];
}

/** A load by wrk for so many seconds, and a whole number of them before each turn. */
export function wrkLoad({ name, seconds, ...shape }: Load & { readonly name: string }) {
  return {
    name,
    run: (peer: Peer, part: number, { signal }: Lab) =>
      runWrk(peer, { ...shape, seconds: Math.ceil(seconds * part) }, signal),
  };
}
