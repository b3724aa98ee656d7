import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { frame, FRAME, FrameClient } from '@gateway/http/test/http2-frames';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { countsOne, environmentOf, secure, type World } from '../connection-world.ts';
import { http2Call } from '../http2-call.ts';
import type { SecureDataPath } from '../secure-data-path.ts';

const opened = closeAfterEach();

type Http2Ending = [
  result: string,
  what: string,
  end: (world: World<SecureDataPath>) => Promise<void>,
];

async function http2Session(world: World<SecureDataPath>) {
  const session = world.gateway.connectHttp2();
  session.on('error', () => undefined);
  await once(session, 'remoteSettings');
  return session;
}

describe('a connection of HTTP/2 is counted once, by what became of it', () => {
  it.each<Http2Ending>([
    [
      'closed_before_request',
      'closed before a request',
      async (world) => {
        (await http2Session(world)).close();
      },
    ],
    [
      'idle_timeout',
      'idle before a request',
      async (world) => {
        await once(await http2Session(world), 'close');
      },
    ],
    [
      'closed_in_request',
      'closed while its request is handled',
      async (world) => {
        const session = await http2Session(world);
        const authorization = `Bearer ${world.gateway.token}`;
        const request = session.request({ ':path': '/v1/proxy/test/hang', authorization });
        request.on('error', () => undefined).end();
        await eventually(() => expect(world.upstream.seen).toHaveLength(1));
        session.destroy();
      },
    ],
    [
      'http2_error',
      'it breaks the protocol',
      async ({ gateway }) => {
        const connection = await FrameClient.openTls(gateway.port, gateway.authority.certPem);
        connection.send(frame(FRAME.settings, 0, 1));
        await eventually(() => expect(connection.isClosed).toBe(true));
      },
    ],
    [
      'internal_error',
      'ended by an internal error',
      async (world) => {
        const session = await http2Session(world);
        world.fail();
        session.request({ ':path': '/' }).on('error', () => undefined);
        await once(session, 'close');
      },
    ],
    [
      'answered',
      'closed after a response',
      async (world) => {
        const session = await http2Session(world);
        await http2Call(session, { authorization: `Bearer ${world.gateway.token}` });
        session.close();
      },
    ],
  ])('%s if %s', async (result, _what, end) => {
    const world = await secure(opened, environmentOf(result));
    await end(world);
    await countsOne(world, result);
  });
});
