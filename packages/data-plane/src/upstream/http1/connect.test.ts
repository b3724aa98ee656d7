import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/testing/eventually';
import { closeAfterEach } from '../../testing/opened.ts';
import { startRawUpstream } from '../../testing/upstream.ts';
import { connect } from './connect.ts';

const opened = closeAfterEach();

const lookupV4: LookupFunction = (name, options, callback) => {
  lookup(name, { ...options, all: true, family: 4 }, (error, found: LookupAddress[]) => {
    callback(error, found);
  });
};

describe('a connection to an upstream over TLS', () => {
  it.each([
    ['localhost', true],
    ['127.0.0.1', false],
  ])('names the server where it has a name: %s', async (host, named) => {
    let hello = '';
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket.on('data', (bytes) => {
          hello += bytes.toString('latin1');
          socket.destroy();
        });
      }),
    );
    const failures: unknown[] = [];
    const options = {
      ...{ origin: new URL(`https://${host}:${upstream.port}`), timeoutMs: 5000 },
      ...{ lookup: lookupV4, clock: systemClock, received: () => undefined },
    };
    connect(options, (socket, failure) => void failures.push(socket ?? failure));
    await eventually(() => expect(failures).toEqual(['tls_failed']));
    expect(hello).not.toBe('');
    expect(hello.includes(host)).toBe(named);
  });
});
