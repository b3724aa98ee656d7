import { afterEach, beforeEach, expect } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { FLAG, FRAME, fieldBlock, frameConnection, type FrameConnection } from './http2-frames.ts';
import { http2Call } from './http2-call.ts';
import { startSecureDataPath, type SecureDataPath } from './secure-data-path.ts';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';

export type Fields = readonly (readonly [string, string])[];

/** The flags of a request without a body. */
export const HEAD = FLAG.endHeaders | FLAG.endStream;
export const PROTOCOL_ERROR = 1;
export const ENHANCE_YOUR_CALM = 11;

export const resetCode = (payload: Buffer) => payload.readUInt32BE(0);
export const goAwayCode = (payload: Buffer) => payload.readUInt32BE(4);

/** The pseudo-header fields of a valid request. */
export const pseudo = (method = 'GET'): Fields => [
  [':method', method],
  [':scheme', 'https'],
  [':authority', 'gateway.test'],
  [':path', '/v1/proxy/test'],
];

/** An upstream, a gateway, and a raw HTTP/2 connection to it, opened for each test. */
export interface Http2Abuse {
  readonly upstream: TestUpstream;
  readonly gateway: SecureDataPath;
  readonly connection: FrameConnection;
  readonly bearer: () => Fields[number];
  /** The field block of a valid request with additional fields. */
  readonly request: (...more: Fields) => Buffer;
  /** Replaces the connection by a new one. */
  readonly reconnect: () => Promise<void>;
  /** Checks that another caller is served, and another stream of the same connection if it is open. */
  readonly othersAreServed: () => Promise<void>;
}

/** Registers the hooks that open and close all this. Called once, at the top of a test file. */
export function abuseOfHttp2(
  environment: Readonly<Record<string, string>> = {},
  route: Partial<SnapshotRoute> = {},
): Http2Abuse {
  let upstream: TestUpstream;
  let gateway: SecureDataPath;
  let connection: FrameConnection;
  beforeEach(async () => {
    upstream = await startUpstream();
    gateway = await startSecureDataPath({ upstreams: [upstream.url], ...route }, { environment });
    connection = await frameConnection(gateway.port, gateway.authority.certPem);
  });
  afterEach(async () => {
    connection.destroy();
    await gateway.stop();
    await upstream.close();
  });
  const bearer = () => ['authorization', `Bearer ${gateway.token}`] as const;
  const request = (...more: Fields) => fieldBlock([...pseudo(), bearer(), ...more]);
  return {
    get upstream() {
      return upstream;
    },
    get gateway() {
      return gateway;
    },
    get connection() {
      return connection;
    },
    bearer,
    request,
    async reconnect() {
      connection.destroy();
      connection = await frameConnection(gateway.port, gateway.authority.certPem);
    },
    async othersAreServed() {
      const session = gateway.connectHttp2();
      const headers = Object.fromEntries([bearer(), ['x-canary', 'other']]) as Record<
        string,
        string
      >;
      expect((await http2Call(session, headers)).body).toBe('ok');
      session.destroy();
      const sentAway = connection.frames.some(({ type }) => type === FRAME.goAway);
      if (!connection.closed && !connection.socket.destroyed && !sentAway) {
        connection.send(FRAME.headers, HEAD, 99, request(['x-canary', 'same']));
        await connection.frame(FRAME.headers, 99);
      }
      await eventually(async () => expect(await gateway.inFlight()).toBe(0));
    },
  };
}
