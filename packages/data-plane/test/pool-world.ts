import { lookup, type LookupAddress } from 'node:dns';
import type { Socket } from 'node:net';
import { METADATA_CIDRS, parseAddressRanges } from '@gateway/shared/net/upstream-addresses';
import { manualClock, type ManualClock } from '@gateway/shared/test/manual-clock';
import { eventually } from '@gateway/shared/test/eventually';
import { expect } from '@jest/globals';
import { Http2Client } from '@gateway/http/http2/client/client';
import type { CompiledUpstream } from '../src/routing-table/routing-table.ts';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import type { AttemptError } from '../src/upstream/attempt-end.ts';
import { UpstreamPools } from '../src/upstream/upstream-pools.ts';
import type { ResponseSink, UpstreamResponse } from '../src/request/upstream-response.ts';
import type { ClientRequest } from '@gateway/http/exchange';

/** A complete response of an upstream. */
export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

export const get: ClientRequest = {
  method: 'GET',
  path: '/',
  fields: [],
  body: null,
  contentLength: undefined,
};

export interface Peer {
  readonly upstream: CompiledUpstream;
  readonly sockets: Socket[];
  /** The socket of each request that has arrived. */
  readonly asked: Socket[];
}

export interface PoolWorld {
  /** Starts an upstream whose responses the test writes. */
  readonly startPeer: () => Promise<Peer>;
  /** Starts an upstream that does this with each connection. Returns its port. */
  readonly startUpstream: (connected: (socket: Socket) => void) => Promise<number>;
  readonly startPools: (maxConnections: number, deny?: readonly string[]) => StartedPools;
  /** Closes all that was started. */
  readonly close: () => Promise<void>;
}

export interface StartedPools {
  readonly pools: UpstreamPools;
  /** What was reported for connections. */
  readonly internalErrors: unknown[];
  readonly clock: ManualClock;
}

/** Pools of connections with a manual clock, and upstreams for them. */
export function openPoolWorld(): PoolWorld {
  const open: (() => void | Promise<void>)[] = [];
  const startUpstream = async (connected: (socket: Socket) => void) => {
    const raw = await startRawUpstream(connected);
    open.push(() => raw.close());
    return raw.port;
  };
  return {
    startUpstream,
    async startPeer() {
      const sockets: Socket[] = [];
      const asked: Socket[] = [];
      const port = await startUpstream((socket) => {
        sockets.push(socket);
        socket.on('data', () => void asked.push(socket));
      });
      return { upstream: upstreamAt(port), sockets, asked };
    },
    startPools(maxConnections, deny = METADATA_CIDRS) {
      const clock = manualClock();
      const internalErrors: unknown[] = [];
      const pools = new UpstreamPools({
        clock,
        deny: parseAddressRanges(deny),
        lookup: (name, options, callback) => {
          lookup(name, { ...options, all: true, family: 4 }, (error, found: LookupAddress[]) => {
            callback(error, found);
          });
        },
        http2: new Http2Client({ clock, maxWindowBytes: 0 }),
        maxConnections,
        processes: 1,
        maxConnectionAgeMs: 10_000,
        connectTimeoutMs: 1000,
        bodyIdleTimeoutMs: 1000,
        internalError: (error) => void internalErrors.push(error),
      });
      open.push(() => pools.close());
      return { pools, clock, internalErrors };
    },
    async close() {
      for (const close of open.splice(0).reverse()) await close();
    },
  };
}

/** An attempt whose test waits for its response, or its failure. */
export interface TestAttempt {
  readonly outcome: Promise<{ response?: UpstreamResponse; error?: AttemptError }>;
  cancel(): void;
}

/** Takes all of a body. */
export const TAKES_ALL: ResponseSink = {
  data: () => undefined,
  delivered: () => undefined,
  stalled: () => undefined,
  broken: () => undefined,
};

/** Begins an attempt. The sink gets the body of its response. */
export function begin(
  pools: UpstreamPools,
  upstream: CompiledUpstream,
  request: ClientRequest,
  timeoutMs: number,
  { holdsKey, sink = TAKES_ALL }: { holdsKey?: () => boolean; sink?: ResponseSink } = {},
): TestAttempt {
  const { promise: outcome, resolve } = Promise.withResolvers<Awaited<TestAttempt['outcome']>>();
  const handler = {
    responded(response: UpstreamResponse) {
      resolve({ response });
      return sink;
    },
    failed: (error: AttemptError) => resolve({ error }),
  };
  const attempt = pools.begin(upstream, request, timeoutMs, handler, holdsKey);
  return { outcome, cancel: () => attempt.cancel() };
}

export function upstreamAt(port: number, host = '127.0.0.1'): CompiledUpstream {
  const origin = `http://${host}:${port}`;
  return {
    key: `svc ups ${origin}`,
    id: 'ups',
    serviceId: 'svc',
    url: origin,
    origin,
    host: `${host}:${port}`,
    basePath: '',
    region: null,
    weight: 1,
  };
}

/** Resolves when this number of requests has arrived at the peer. */
export async function askedTimes(peer: Peer, times: number): Promise<void> {
  await eventually(() => expect(peer.asked.length).toBe(times));
}

/** Resolves in the next turn of the event loop. The first callback runs at the end of this turn. */
export async function nextTurn(): Promise<void> {
  for (let times = 0; times < 2; times += 1) await new Promise((resolve) => setImmediate(resolve));
}
