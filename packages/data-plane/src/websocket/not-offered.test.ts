import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { WebSocket } from 'ws';
import { http2Call } from '../../test/http2-call.ts';
import { startGatewayTo, startSocketsUpstream } from '../../test/http2-sockets.ts';

const opened = closeAfterEach();
/** More than would eject either of two upstreams. */
const HANDSHAKES = 20;

describe('an upstream that does not offer WebSocket over HTTP/2', () => {
  it('is not ejected, because it serves the other requests of its service', async () => {
    const [first, second] = [
      opened(await startSocketsUpstream({ enableConnectProtocol: false })),
      opened(await startSocketsUpstream({ enableConnectProtocol: false })),
    ];
    const gateway = opened(
      await startGatewayTo([first.url, second.url], {
        protocol: 'http2',
        websocket_protocol: 'http2',
      }),
    );
    const headers = { authorization: `Bearer ${gateway.token}` };
    for (let count = 0; count < HANDSHAKES; count += 1) {
      const url = `${gateway.url.replace('http', 'ws')}/v1/proxy/test/chat`;
      const socket = new WebSocket(url, { headers, ca: gateway.authority.certPem });
      socket.on('error', () => undefined);
      opened({ close: () => socket.terminate() });
    }
    await eventually(() => expect(gateway.records).toHaveLength(HANDSHAKES));
    const attempts = gateway.records.flatMap((record) => record.attempts);
    expect(new Set(attempts.map(({ error }) => error))).toEqual(new Set(['connect_not_offered']));
    expect(await gateway.registry.metrics()).not.toMatch(
      /to="(?:ejected|unhealthy)",reason="\w+"\} [1-9]/,
    );
    const session = gateway.connectHttp2();
    opened({
      destroy: () => {
        session.destroy();
      },
    });
    for (let count = 0; count < HANDSHAKES; count += 1) {
      expect((await http2Call(session, headers)).status).toBe(200);
    }
    const served = [first, second].map(({ arrived }) => arrived.length);
    expect(Math.min(...served)).toBeGreaterThan(0);
  });
});
