import { createServer, type ServerHttp2Stream } from 'node:http2';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { UndoList } from '@gateway/shared/test/undo-list';
import { afterEach, describe, expect, it } from '@jest/globals';
import { GRPC } from '../../lab/grpc-message.ts';
import { startScript } from '../../lab/script.ts';
import { grpcMessages, grpcStatusOf, type Direction } from './grpc-messages.ts';

const { signal } = new AbortController();
const LOAD = { messages: 600, connections: 2, streams: 10, signal };

describe('a load of gRPC messages', () => {
  const undo = new UndoList();
  afterEach(() => undo.run());

  const peer = (port: number) => ({
    name: 'upstream',
    url: `http://127.0.0.1:${port}/v1/proxy/orders`,
    authorization: 'Bearer x',
    pid: 0,
  });

  async function startUpstream() {
    const run = { signal, defer: (close: () => unknown) => undo.add(close) };
    const file = new URL('../../lab/grpc-upstream-process.ts', import.meta.url);
    return peer(Number(await startScript(run, file).nextMessage()));
  }

  it.each<Direction>(['server', 'both'])(
    'counts each message of the direction %s',
    async (direction) => {
      const upstream = await startUpstream();
      expect(await grpcStatusOf(upstream)).toBe('0');
      const outcome = await grpcMessages(upstream, { ...LOAD, direction });
      expect(outcome).toMatchObject({ units: 600, failed: 0 });
      expect(outcome.p50Us).toBeGreaterThan(0);
    },
  );

  it.each<Direction>(['server', 'both'])(
    'of the direction %s fails with calls that get no status',
    async (direction) => {
      const server = createServer();
      server.on('stream', (stream: ServerHttp2Stream) => {
        stream.respond({ ':status': 200, 'content-type': GRPC });
        stream.resume();
        stream.end('x');
      });
      server.listen(0, '127.0.0.1');
      undo.add(() => server.close());
      await once(server, 'listening');
      const upstream = peer((server.address() as AddressInfo).port);
      expect(await grpcStatusOf(upstream)).toBeUndefined();
      expect(await grpcMessages(upstream, { ...LOAD, direction })).toMatchObject({ failed: 600 });
    },
  );
});
