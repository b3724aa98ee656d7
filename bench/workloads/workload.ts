import type { Lab } from '../lab/lab.ts';
import type { LoadOutcome } from '../measure/outcome.ts';
import { runWrk, type LoadShape } from '../load/wrk.ts';
import { gateway } from '../peers/gateway.ts';
import { oneRoute } from '../peers/gateway-configuration.ts';
import type { Peer, PeerKind } from '../peers/peer.ts';
import { caddy, haproxy, nginx, type ServerOptions } from '../peers/servers.ts';

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
  open?(peer: Peer, lab: Lab): Promise<Held>;
  /** @param part of the load, from 0 to 1: a part of it comes before each turn and is not measured */
  run(peer: Peer, part: number, lab: Lab): Promise<LoadOutcome>;
  /** How a row is warmed up; by default by turns, until one does not cost clearly less than the one before. */
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
  /** nginx, the reference, is the first. */
  readonly peers: readonly PeerKind[];
  readonly loads: readonly WorkloadLoad[];
  /** A column that only this workload has. */
  readonly ownFigure?: { readonly head: string; readonly format: (value: number) => string };
}

type GatewayOptions = Parameters<typeof gateway>[0];

/** All proxies of a workload, nginx first. */
export function proxies(options: ServerOptions = {}, started: GatewayOptions = {}): PeerKind[] {
  return [
    nginx(options),
    haproxy(options),
    caddy(options),
    gateway({ configure: oneRoute(), secure: options.secure ?? false, ...started }),
  ];
}

/** A load by wrk for so many seconds, and a whole number of them before each turn. */
export function wrkLoad(
  name: string,
  seconds: number,
  shape: LoadShape & { readonly connections?: number } = {},
): WorkloadLoad {
  return {
    name,
    run: (peer, part, { signal }) =>
      runWrk(peer, { ...shape, seconds: Math.ceil(seconds * part) }, signal),
  };
}
