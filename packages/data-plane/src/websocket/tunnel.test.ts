import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, it } from '@jest/globals';
import { TimeAccount } from '../request/time-account.ts';
import { openTunnel } from './tunnel.ts';

const window = { limit: 1, remaining: 1, resetMs: 1 };
const response = { fields: [], attach: () => undefined, cancel: () => undefined };
const ctx = { times: new TimeAccount(0), quota: window, inbound: {}, body: {} };

it.each([
  [true, undefined],
  [false, new Error('reset')],
])(
  'counts a handshake as answered (%s) if its response was written, with %s',
  (isAnswered, error) => {
    const socket = new Socket();
    let switched = false;
    socket._write = (_chunk, _encoding, callback) => {
      callback(error);
    };
    socket.on('error', () => undefined);
    const respond = {
      clock: { nowMs: () => 0, monotonicMs: () => 0 },
      failureAllowance: () => window,
      draining: () => false,
    };
    openTunnel(ctx as never, response as never, new PassThrough(), socket, {
      respond: respond as never,
      tunnelIdleTimeoutMs: 1000,
      switched: () => (switched = true),
    });
    return new Promise<void>((resolve) => {
      setImmediate(() => {
        expect(switched).toBe(isAnswered);
        socket.destroy();
        resolve();
      });
    });
  },
);
