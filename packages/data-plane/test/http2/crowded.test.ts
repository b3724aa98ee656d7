import { once } from 'node:events';
import { expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startUpstream } from '@gateway/shared/test/upstream';
import { startSecureDataPath } from '../secure-data-path.ts';

const opened = closeAfterEach();

it('idle connections of HTTP/2 are closed sooner if nine in ten connections are used', async () => {
  const upstream = opened(await startUpstream((_seen, response) => response.end('ok')));
  const environment = { MAX_CONNECTIONS: '10', KEEP_ALIVE_TIMEOUT_MS: '16000' };
  const gateway = opened(await startSecureDataPath({ upstreams: [upstream.url] }, { environment }));
  const connect = async () => {
    const session = gateway.connectHttp2();
    session.on('error', () => undefined);
    opened({
      destroy: () => {
        session.destroy();
      },
    });
    await once(session, 'remoteSettings');
    return session;
  };
  const alone = await connect();
  await Promise.all(Array.from({ length: 8 }, connect));
  await eventually(() => expect(alone.closed).toBe(true), { deadlineMs: 8_000 });
});
