import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { startTestDataPath } from '../../test/data-path.ts';
import type { LargeBodyOrder, LargeBodyResult } from '../../test/large-body-peer.ts';
import { watchMemory } from '@gateway/shared/test/memory';
import { closeAfterEach } from '@gateway/shared/test/opened';

const opened = closeAfterEach();
const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const WARM_UP = 64 * MIB;
const MAX_LIVE_GROWTH = 64 * MIB;
const MAX_RESIDENT_GROWTH = 100 * MIB;
const LARGE = 256 * MIB;
const NOTHING = { method: 'GET', headers: {}, sendBytes: 0, answerBytes: 0, answerHeaders: {} };
const CHUNKED = { 'transfer-encoding': 'chunked' };
/** Replaced by the length of the body. */
const KNOWN_LENGTH = { 'content-length': '' };

async function setUp() {
  const path = fileURLToPath(new URL('../../test/large-body-peer.ts', import.meta.url));
  const peer = fork(path, { execArgv: [] });
  opened({ close: () => peer.kill() });
  const [port] = (await once(peer, 'message')) as [number];
  const gateway = opened(
    await startTestDataPath({
      upstreams: [`http://127.0.0.1:${port}`],
      timeout_ms: 60_000,
      max_body_bytes: GIB,
      retry_count: 2,
    }),
  );
  const carryOut = async (order: Partial<LargeBodyOrder>): Promise<LargeBodyResult> => {
    const headers = { ...order.headers, authorization: `Bearer ${gateway.token}` };
    peer.send({ ...NOTHING, url: `${gateway.url}/v1/proxy/test`, ...order, headers });
    const [result] = (await once(peer, 'message')) as [LargeBodyResult];
    return result;
  };
  return { gateway, carryOut };
}

/** The order with bodies of this length. */
function sized(order: Partial<LargeBodyOrder>, bytes: number): Partial<LargeBodyOrder> {
  const inHeaders = (headers: Readonly<Record<string, string>> = {}) =>
    'content-length' in headers ? { 'content-length': String(bytes) } : headers;
  return {
    ...order,
    sendBytes: order.sendBytes === undefined ? 0 : bytes,
    answerBytes: order.answerBytes === undefined ? 0 : bytes,
    headers: inHeaders(order.headers),
    answerHeaders: inHeaders(order.answerHeaders),
  };
}

const FROM_UPSTREAM = { answerBytes: GIB };
const TO_UPSTREAM = { method: 'POST', sendBytes: GIB };

describe('a large body', () => {
  // The longest request body that a route may allow. A quarter of that for all others, which is four times the allowed
  // memory.
  it.each<[string, number, Partial<LargeBodyOrder>]>([
    ['from an upstream, in chunks', LARGE, FROM_UPSTREAM],
    [
      'from an upstream, of announced length',
      LARGE,
      { ...FROM_UPSTREAM, answerHeaders: KNOWN_LENGTH },
    ],
    ['1 GiB to an upstream, of announced length', GIB, { ...TO_UPSTREAM, headers: KNOWN_LENGTH }],
    ['to an upstream, in chunks', LARGE, { ...TO_UPSTREAM, headers: CHUNKED }],
    [
      'to an upstream, begun to be kept',
      LARGE,
      { ...TO_UPSTREAM, method: 'PUT', headers: CHUNKED },
    ],
  ])(
    'passes the gateway completely and in bounded memory: %s',
    async (_case, bytes, kind) => {
      const { gateway, carryOut } = await setUp();
      // A shorter one first: its memory is needed for any body, growth beyond it is caused by the length.
      await carryOut(sized(kind, WARM_UP));
      const memory = watchMemory();
      const order = sized(kind, bytes);
      const result = await carryOut(order);
      const { liveBytes, residentBytes } = memory.growth();
      expect(liveBytes).toBeLessThan(MAX_LIVE_GROWTH);
      expect(residentBytes).toBeLessThan(MAX_RESIDENT_GROWTH);
      const { sendBytes = 0, answerBytes = 0 } = order;
      expect(result).toMatchObject({ upstreamGotBytes: sendBytes, callerGotBytes: answerBytes });
      expect(await gateway.recordOf(result.requestId)).toMatchObject({
        outcome: 'success',
        request_bytes: sendBytes,
        response_bytes: answerBytes,
      });
    },
    60_000,
  );
});
