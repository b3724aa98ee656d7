import { Agent as HttpAgent, get as getHttp, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, get as getHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { tlsServerName } from '@gateway/http/sockets/connect';
import type { Clock } from '@gateway/shared/clock';
import type { AddressRanges } from '@gateway/shared/net/client-address';
import { bareHost } from '@gateway/shared/net/upstream-addresses';
import { ADDRESS_REFUSED, DNS_FAILED, isDeniedOrigin } from '../../upstream/dns/guarded-lookup.ts';
import { RESOURCE_CODES } from '../../upstream/resource-codes.ts';
import { ACCEPTED_CODINGS, decodeContent, DecodeError } from './decode-content.ts';
import { KeySetFetchError, type FetchFailure, type FetchKeySet } from './remote-key-set.ts';

export interface FetchKeySetOptions {
  readonly clock: Clock;
  /** Addresses that no upstream may have; the same rule holds for the key sets of issuers. */
  readonly deny: AddressRanges;
  readonly lookup: LookupFunction;
}

/** Limit for a whole fetch: name resolution, connection, head and body. */
export const FETCH_TIMEOUT_MS = 5_000;
/** Of the body as it is sent, and of what it decodes to. */
export const MAX_KEY_SET_BYTES = 256 * 1024;

/**
 * Fetches key sets over HTTP, each over its own connection. A fetch is bounded in time and in size and
 * follows no redirect. It connects to no address that `deny` contains; the addresses are checked after
 * name resolution, so a name cannot lead to a denied address.
 */
export function createFetchKeySet(options: FetchKeySetOptions): FetchKeySet {
  const { clock, deny, lookup } = options;
  const http = new HttpAgent({ keepAlive: false, lookup });
  const https = new HttpsAgent({ keepAlive: false, lookup });

  return (url, signal) => {
    const target = new URL(url);
    if (isDeniedOrigin(target.origin, deny)) {
      return Promise.reject(
        new KeySetFetchError('address_refused', 'UPSTREAM_DENY_CIDRS refuses the address'),
      );
    }
    return new Promise((resolve, reject) => {
      const headers = {
        accept: 'application/jwk-set+json, application/json',
        'accept-encoding': ACCEPTED_CODINGS,
      };
      const request =
        target.protocol === 'https:'
          ? getHttps(target, { agent: https, headers, servername: tlsServerName(bareHost(target)) })
          : getHttp(target, { agent: http, headers });
      const fail = (failure: FetchFailure, message: string) => {
        timer.cancel();
        signal.removeEventListener('abort', abort);
        reject(new KeySetFetchError(failure, message));
        request.destroy();
      };
      const abort = () => {
        fail('unreachable', 'the fetch was cancelled');
      };
      const timer = clock.setTimer(FETCH_TIMEOUT_MS, () => {
        fail('timeout', `it took longer than ${FETCH_TIMEOUT_MS} ms`);
      });
      signal.addEventListener('abort', abort, { once: true });
      request.on('error', (error: NodeJS.ErrnoException) => {
        fail(failureOf(error), error.code ?? error.message);
      });
      request.on('response', (response) => {
        readText(response, fail, (text) => {
          timer.cancel();
          signal.removeEventListener('abort', abort);
          resolve(text);
        });
      });
    });
  };
}

/** A fault of this data plane is not counted as one of the issuer. */
function failureOf({ code = '' }: NodeJS.ErrnoException): FetchFailure {
  if (RESOURCE_CODES.has(code)) return 'system_resources';
  if (code === DNS_FAILED) return 'dns_failed';
  return code === ADDRESS_REFUSED ? 'address_refused' : 'unreachable';
}

function readText(
  response: IncomingMessage,
  fail: (failure: FetchFailure, message: string) => void,
  done: (text: string) => void,
): void {
  if (response.statusCode !== 200) {
    fail('status', `it answered ${response.statusCode ?? 0}`);
    return;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_KEY_SET_BYTES) {
      fail('too_large', `it is larger than ${MAX_KEY_SET_BYTES} bytes`);
    } else {
      chunks.push(chunk);
    }
  });
  response.on('error', (error: NodeJS.ErrnoException) => {
    fail('unreachable', error.code ?? error.message);
  });
  response.on('end', () => {
    if (!response.complete) return;
    const coding = response.headers['content-encoding'] ?? '';
    decodeContent(Buffer.concat(chunks), coding, MAX_KEY_SET_BYTES).then(
      // Unlike toString, TextDecoder skips a byte order mark, which RFC 8259 section 8.1 allows.
      (decoded) => done(new TextDecoder().decode(decoded)),
      (error: unknown) => {
        const tooLarge = error instanceof DecodeError && error.tooLarge;
        fail(tooLarge ? 'too_large' : 'malformed', String(error));
      },
    );
  });
}
