import { lookup, type LookupAddress } from 'node:dns';
import { once } from 'node:events';
import type { AddressInfo, LookupFunction } from 'node:net';
import { createSecureContext, createServer, type TlsOptions } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { connect } from './connect.ts';

const opened = closeAfterEach();

const lookupV4: LookupFunction = (name, options, callback) => {
  lookup(name, { ...options, all: true, family: 4 }, (error, found: LookupAddress[]) => {
    callback(error, found);
  });
};

describe('a TLS connection to a server', () => {
  it.each([
    ['localhost', true],
    ['127.0.0.1', false],
  ])('sends the server name if it is not an address: %s', async (host, named) => {
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
      origin: new URL(`https://${host}:${upstream.port}`),
      timeoutMs: 5000,
      lookup: lookupV4,
      clock: systemClock,
    };
    connect(options, (connected, failure) => void failures.push(connected ?? failure));
    await eventually(() => expect(failures).toEqual([{ phase: 'tls', code: 'ECONNRESET' }]));
    expect(hello).not.toBe('');
    expect(hello.includes(host)).toBe(named);
  });
});

describe('the connect timeout', () => {
  it('accepts a connection that was open when a blocked process continued', async () => {
    const upstream = opened(await startRawUpstream(() => undefined));
    const clock = manualClock();
    const options = {
      origin: new URL(upstream.url),
      timeoutMs: 100,
      lookup: lookupV4,
      clock,
    };
    const result = new Promise((resolve) => {
      connect(options, (connected, failure) => {
        connected?.socket.destroy();
        resolve(failure ?? 'connected');
      });
    });
    await new Promise((resolve) => process.nextTick(resolve));
    // The system completes the connection while this process is blocked; then its timers run first.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    clock.advance(8000);
    expect(await result).toBe('connected');
  });
});

describe('a host with a trailing dot', () => {
  it.each(['upstream.test.', 'upstream.test'])(
    'has neither in SNI nor in the certificate: %s',
    async (host) => {
      const authority = createTestAuthority('dots');
      const { certPem, keyPem } = authority.issue(['upstream.test']);
      const asked: string[] = [];
      const SNICallback: TlsOptions['SNICallback'] = (name, done) => {
        asked.push(name);
        done(null);
      };
      const server = createServer({ cert: certPem, key: keyPem, SNICallback });
      server.on('tlsClientError', () => undefined);
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const options = {
        origin: new URL(`https://${host}:${(server.address() as AddressInfo).port}`),
        timeoutMs: 5000,
        lookup: ((_name, _options, found) =>
          found(null, [{ address: '127.0.0.1', family: 4 }])) as LookupFunction,
        clock: systemClock,
        secureContext: createSecureContext({ ca: authority.certPem }),
      };
      const result = await new Promise((resolve) => {
        connect(options, (connected, failure) => {
          connected?.socket.destroy();
          resolve(failure ?? 'connected');
        });
      });
      server.close();
      await once(server, 'close');
      expect([result, asked]).toEqual(['connected', ['upstream.test']]);
    },
  );
});
