import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { ConnectionGuard } from '../../connection-guard.ts';
import { WaitingBody } from '../../message/waiting-body.ts';
import { ReadGate } from '../server/read-gate.ts';
import { writeRequest } from './request-writer.ts';

const opened = closeAfterEach();

describe('writing a request', () => {
  it('fails and sends nothing if the body was aborted before', async () => {
    const upstream = opened(await startRawUpstream(() => undefined));
    const socket = connect(upstream.port, '127.0.0.1');
    opened({ close: () => void socket.destroy() });
    await once(socket, 'connect');
    const body = new WaitingBody({
      gate: new ReadGate(socket, systemClock),
      guard: new ConnectionGuard(socket, () => undefined),
    });
    body.fail('peer_left');
    const errors: (Error | undefined)[] = [];
    const request = { method: 'PUT', path: '/', fields: [], body, contentLength: undefined };
    writeRequest(socket, 'a.test', request, (error) => void errors.push(error));
    expect(errors).toMatchObject([{ message: 'the request body was aborted' }]);
    expect(socket.bytesWritten).toBe(0);
  });
});
