import type { Duplex } from 'node:stream';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import type { SnapshotService } from '@gateway/shared/snapshot/schema';
import { WebSocket } from 'ws';
import {
  answerOk,
  startHttp2Upstream,
  type ArrivedStream,
  type Http2Upstream,
  type Http2UpstreamOptions,
} from './http2-upstream.ts';
import { startSecureDataPath, type SecureDataPath } from './secure-data-path.ts';

/** The WebSocket library on a stream, which it takes for a socket of a server. */
export function socketOn(stream: Duplex): WebSocket {
  // The types say nothing of sockets of a server.
  const socket = Reflect.construct(WebSocket, [null, undefined, {}]) as WebSocket & {
    setSocket(stream: Duplex, head: Buffer, options: object): void;
  };
  socket.on('error', () => undefined);
  socket.setSocket(stream, Buffer.alloc(0), { allowSynchronousEvents: true, maxPayload: 2 ** 24 });
  return socket;
}

export interface SocketsUpstream extends Http2Upstream {
  /** The WebSockets, in the order of their handshakes. */
  readonly sockets: WebSocket[];
}

/** An upstream of HTTP/2 that echoes WebSocket messages (RFC 8441), and answers other requests with `ok`. */
export async function startSocketsUpstream(
  options: Http2UpstreamOptions = {},
): Promise<SocketsUpstream> {
  const sockets: WebSocket[] = [];
  const answer = (arrived: ArrivedStream) => {
    const { stream, headers } = arrived;
    if (headers[':method'] !== 'CONNECT') {
      answerOk(arrived);
      return;
    }
    stream.respond({ ':status': 200, 'sec-websocket-protocol': 'chat', 'x-upstream': 'yes' });
    const socket = socketOn(stream);
    sockets.push(socket);
    socket.on('message', (data, isBinary) => {
      socket.send(data, { binary: isBinary });
    });
  };
  const upstream = await startHttp2Upstream({ enableConnectProtocol: true, answer, ...options });
  return Object.assign(upstream, { sockets });
}

/** A gateway with TLS, whose service has these settings. `token` is one of every route. */
export async function startGatewayTo(
  url: string | readonly string[],
  service: Partial<SnapshotService>,
  environment: Readonly<Record<string, string>> = {},
): Promise<SecureDataPath> {
  const token = createTokenSecret();
  const upstreams = [url].flat();
  const snapshot = testSnapshot({ upstreams }, token);
  const services = snapshot.services.map((one) => ({ ...one, ...service }));
  const snapshots = [{ ...snapshot, services }];
  const gateway = await startSecureDataPath({ upstreams }, { snapshots, environment });
  return { ...gateway, token };
}
