import type { ServerResponse } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { createServer } from 'node:https';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startTokenIssuer } from '@gateway/shared/test/token-issuer';
import { closedPort, listen } from '@gateway/shared/test/upstream';
import { guardedLookup, type NameResolver } from '../../upstream/dns/guarded-lookup.ts';
import { createFetchKeySet, FETCH_TIMEOUT_MS, MAX_KEY_SET_BYTES } from './fetch-key-set.ts';

const opened = closeAfterEach();

function fetcher(denied: readonly string[] = [], clock = systemClock, resolve?: NameResolver) {
  const deny = parseAddressRanges(denied);
  const fetch = createFetchKeySet({ clock, deny, lookup: guardedLookup(deny, resolve) });
  return (url: string) => fetch(url, new AbortController().signal);
}

async function setUp(answer?: (response: ServerResponse) => void) {
  const issuer = opened(await startTokenIssuer());
  issuer.answer = answer;
  return issuer;
}

describe('fetching a key set', () => {
  it('returns the body of the response', async () => {
    const issuer = await setUp();
    const text = await fetcher()(issuer.jwksUrl);
    expect(JSON.parse(text)).toEqual({ keys: issuer.keys.map((key) => key.jwk) });
  });

  it('skips a byte order mark', async () => {
    const issuer = await setUp((response) => void response.end('\ufeff{"keys":[]}'));
    expect(await fetcher()(issuer.jwksUrl)).toBe('{"keys":[]}');
  });

  it.each<[string, (text: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['identity', (text) => text],
  ])('reads a body that the issuer has compressed with %s', async (coding, compress) => {
    const issuer = await setUp((response) => {
      response.setHeader('content-encoding', coding);
      response.end(compress(Buffer.from('\ufeff{"keys":[]}')));
    });
    expect(await fetcher()(issuer.jwksUrl)).toBe('{"keys":[]}');
  });

  it('asks for the codings that it reads', async () => {
    const seen: unknown[] = [];
    const issuer = await setUp((response) => {
      seen.push(response.req.headers['accept-encoding']);
      response.end('{"keys":[]}');
    });
    await fetcher()(issuer.jwksUrl);
    expect(seen).toEqual(['gzip, deflate, br']);
  });

  it.each<[string, (text: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('fails if a body is too large once it is decoded from %s', async (coding, compress) => {
    const answer = (text: Buffer) => (response: ServerResponse) => {
      response.setHeader('content-encoding', coding);
      response.end(compress(text));
    };
    const issuer = await setUp(answer(Buffer.alloc(MAX_KEY_SET_BYTES, ' ')));
    expect(await fetcher()(issuer.jwksUrl)).toHaveLength(MAX_KEY_SET_BYTES);
    issuer.answer = answer(Buffer.alloc(MAX_KEY_SET_BYTES + 1, ' '));
    await expect(fetcher()(issuer.jwksUrl)).rejects.toMatchObject({ failure: 'too_large' });
  });

  it.each<[string, string, Buffer]>([
    ['ends early', 'gzip', gzipSync('{"keys":[]}').subarray(0, -9)],
    ['ends early', 'br', brotliCompressSync('{"keys":[]}').subarray(0, -2)],
    ['is empty', 'gzip', Buffer.alloc(0)],
    ['is no compressed data', 'gzip', Buffer.from('{"keys":[]}')],
    ['is no compressed data', 'br', Buffer.from('{"keys":[]}')],
    ['has an unknown coding', 'zstd', Buffer.from('{"keys":[]}')],
    ['has an unknown coding', 'constructor', Buffer.from('{"keys":[]}')],
    ['has two codings', 'gzip, gzip', gzipSync(gzipSync('{"keys":[]}'))],
  ])('fails if a body %s (%s)', async (_case, coding, bytes) => {
    const issuer = await setUp((response) => {
      response.setHeader('content-encoding', coding);
      response.end(bytes);
    });
    await expect(fetcher()(issuer.jwksUrl)).rejects.toMatchObject({ failure: 'malformed' });
  });

  it('fails if the connection is refused', async () => {
    const url = `http://127.0.0.1:${await closedPort()}/jwks.json`;
    await expect(fetcher()(url)).rejects.toMatchObject({ failure: 'unreachable' });
  });

  it.each([
    ['ESERVFAIL', 'dns_failed'],
    ['EMFILE', 'system_resources'],
    ['ENOTFOUND', 'unreachable'],
  ])('does not blame the issuer for a fault of this data plane: %s', async (code, failure) => {
    const resolve: NameResolver = (_name, _options, callback) =>
      void setImmediate(() => callback(Object.assign(new Error(code), { code }), []));
    const fetching = fetcher([], systemClock, resolve)('http://issuer.test/jwks.json');
    await expect(fetching).rejects.toMatchObject({ failure });
  });

  it('accepts only status 200 and follows no redirect', async () => {
    const target = await setUp();
    const issuer = await setUp((response) => {
      response.writeHead(302, { location: target.jwksUrl }).end();
    });
    await expect(fetcher()(issuer.jwksUrl)).rejects.toMatchObject({ failure: 'status' });
    issuer.answer = (response) => void response.writeHead(500).end('{"keys":[]}');
    await expect(fetcher()(issuer.jwksUrl)).rejects.toMatchObject({ failure: 'status' });
    expect(target.fetches).toBe(0);
  });

  it('fails if the response is too large', async () => {
    let sent = 0;
    const issuer = await setUp((response) => {
      const chunk = Buffer.alloc(64 * 1024, ' ');
      const more = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on('drain', more);
      more();
    });
    await expect(fetcher()(issuer.jwksUrl)).rejects.toMatchObject({ failure: 'too_large' });
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('fails if the response is too slow, before or within its body', async () => {
    const soon = { ...systemClock, setTimer: hasten };
    for (const hang of [() => undefined, (response: ServerResponse) => void response.write('{')]) {
      const issuer = await setUp(hang);
      await expect(fetcher([], soon)(issuer.jwksUrl)).rejects.toMatchObject({ failure: 'timeout' });
    }
  });

  it('fails if the response is incomplete', async () => {
    const issuer = await setUp((response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"keys":', () => response.destroy());
    });
    await expect(fetcher()(issuer.jwksUrl)).rejects.toMatchObject({ failure: 'unreachable' });
  });

  it('sends the host without its trailing dot in SNI, and no address', async () => {
    const asked: string[] = [];
    const { certPem: cert, keyPem: key } = createTestAuthority('issuers').issue(['issuer.test']);
    const server = createServer({
      cert,
      key,
      SNICallback(name, done) {
        asked.push(name);
        done(null);
      },
    });
    server.on('tlsClientError', () => undefined);
    const { port } = opened(await listen(server));
    const toLoopback: NameResolver = (_name, _options, found) =>
      void setImmediate(() => found(null, [{ address: '127.0.0.1', family: 4 }]));
    for (const host of ['issuer.test.', 'issuer.test', '127.0.0.1']) {
      const fetched = fetcher([], systemClock, toLoopback)(`https://${host}:${port}/jwks.json`);
      // No root of this process has issued the certificate.
      await expect(fetched).rejects.toMatchObject({ failure: 'unreachable' });
    }
    expect(asked).toEqual(['issuer.test', 'issuer.test']);
  });

  it('refuses denied addresses, given as an address or a name', async () => {
    const issuer = await setUp();
    const guarded = fetcher(['127.0.0.0/8', '::1/128']);
    const { port } = new URL(issuer.jwksUrl);
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '2130706433']) {
      const fetched = guarded(`http://${host}:${port}/jwks.json`);
      await expect(fetched).rejects.toMatchObject({ failure: 'address_refused' });
    }
    expect(issuer.fetches).toBe(0);
  });
});

/** A clock for the fetch only, fifty times as fast. */
function hasten(delayMs: number, callback: () => void) {
  expect(delayMs).toBe(FETCH_TIMEOUT_MS);
  return systemClock.setTimer(delayMs / 50, callback);
}
