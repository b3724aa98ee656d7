import { afterEach, beforeEach, expect } from '@jest/globals';
import {
  fieldBlock,
  FLAG,
  frame,
  FRAME,
  FrameClient,
  HEAD,
  pseudo as pseudoOf,
  type Fields,
} from '@gateway/http/test/http2-frames';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { http2Call } from './http2-call.ts';
import { startSecureDataPath, type SecureDataPath } from './secure-data-path.ts';

/** The code of RST_STREAM or GOAWAY. */
export const errorCode = ({ type, payload }: { readonly type: number; readonly payload: Buffer }) =>
  payload.readUInt32BE(type === FRAME.goAway ? 4 : 0);

/** The pseudo-header fields of a valid request. */
export const pseudo = (method = 'GET'): Fields => pseudoOf(method, '/v1/proxy/test');

/** An upstream, a gateway, and a raw HTTP/2 connection to it, opened for each test. */
export interface Http2Abuse {
  readonly upstream: TestUpstream;
  readonly gateway: SecureDataPath;
  readonly connection: FrameClient;
  /** A valid request without a body, and the start of one with a body, with additional fields. */
  readonly get: (stream: number, ...more: Fields) => Buffer;
  readonly post: (stream: number, ...more: Fields) => Buffer;
  /** Checks that another caller is served, and another stream of the same connection if it is open. */
  readonly othersAreServed: () => Promise<void>;
  /** The requests that the upstream has received, without those of `othersAreServed`. */
  readonly seen: () => TestUpstream['seen'];
}

/** Registers the hooks that open and close all this. Called once, at the top of a test file. */
export function abuseOfHttp2(
  environment: Readonly<Record<string, string>> = {},
  route: Partial<SnapshotRoute> = {},
): Http2Abuse {
  let upstream: TestUpstream;
  let gateway: SecureDataPath;
  let connection: FrameClient;
  beforeEach(async () => {
    upstream = await startUpstream();
    gateway = await startSecureDataPath({ upstreams: [upstream.url], ...route }, { environment });
    connection = await FrameClient.openTls(gateway.port, gateway.authority.certPem);
  });
  afterEach(async () => {
    connection.destroy();
    await gateway.stop();
    await upstream.close();
  });
  const block = (method: string, more: Fields) =>
    fieldBlock([...pseudo(method), ['authorization', `Bearer ${gateway.token}`], ...more]);
  const get = (stream: number, ...more: Fields) =>
    frame(FRAME.headers, HEAD, stream, block('GET', more));
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
    get,
    post: (stream, ...more) => frame(FRAME.headers, FLAG.endHeaders, stream, block('POST', more)),
    async othersAreServed() {
      const session = gateway.connectHttp2();
      const headers = { authorization: `Bearer ${gateway.token}`, 'x-canary': '1' };
      expect((await http2Call(session, headers)).body).toBe('ok');
      session.destroy();
      const isOpen = !connection.isClosed && !connection.socket.destroyed;
      if (isOpen && connection.of(FRAME.goAway).length === 0) {
        connection.send(get(99, ['x-canary', '1']));
        await connection.frame(FRAME.headers, 99);
      }
      await eventually(async () => expect(await gateway.inFlight()).toBe(0));
    },
    seen: () => upstream.seen.filter(({ headers }) => headers['x-canary'] === undefined),
  };
}
