import { Agent } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import fc from 'fast-check';
import {
  callHttp1,
  callHttp2,
  startPatternedUpstream,
  type PatternedAnswer,
  type PatternedCall,
} from '../../test/patterned-calls.ts';
import { startTestDataPath } from '../../test/data-path.ts';
import { startSecureDataPath } from '../../test/secure-data-path.ts';

const opened = closeAfterEach();
/** Connections over HTTP/1.1, and streams over HTTP/2: more would only make each call wait longer, up to its deadline. */
const AT_ONCE = { 'HTTP/1.1': 8, 'HTTP/2': 32 };

/** Around the sizes at which a body is passed on in another way. */
const bytes = fc.oneof(
  fc.constantFrom(0, 1, 1023, 1024, 1025, 4096, 10_240, 16_384, 16_385, 65_536, 200_000),
  fc.nat({ max: 70_000 }),
);
const fields = fc.record({
  sentBytes: bytes,
  answeredBytes: bytes,
  pieceBytes: fc.constantFrom(0, 0, 700, 1100, 20_000, 70_000),
  failsFirst: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  slow: fc.boolean(),
  hasKey: fc.boolean(),
});
const calls = fc.array(fields, { minLength: 150, maxLength: 150, size: 'max' }).map((all) =>
  all.map(({ hasKey, ...rest }, number): PatternedCall => ({
    ...rest,
    number,
    key: hasKey ? `key-${number}` : undefined,
  })),
);

type Make = (call: PatternedCall) => Promise<PatternedAnswer>;

/** A gateway in front of an upstream with or without TLS, and how its callers reach it. */
async function setUp(caller: 'HTTP/1.1' | 'HTTP/2', upstreamTls: boolean) {
  const authority = createTestAuthority('upstreams');
  const upstream = opened(
    await startPatternedUpstream(upstreamTls ? authority.issue(['127.0.0.1']) : undefined),
  );
  const token = createTokenSecret();
  const plain = testSnapshot({ upstreams: [upstream.url], timeout_ms: 20_000 }, token);
  const services = plain.services.map((service) => ({
    ...service,
    ...(upstreamTls && { tls: { ca_pem: authority.certPem } }),
  }));
  const options = { snapshots: [{ ...plain, services }] };
  let make: Make;
  if (caller === 'HTTP/1.1') {
    const gateway = opened(await startTestDataPath({ upstreams: [] }, options));
    const agent = opened(new Agent({ keepAlive: true, maxSockets: AT_ONCE[caller] }));
    make = (call) => callHttp1(gateway.url, token, agent, call);
  } else {
    const gateway = opened(await startSecureDataPath({ upstreams: [] }, options));
    const session = opened(gateway.connectHttp2());
    make = (call) => callHttp2(session, token, call);
  }
  return {
    upstream,
    makeAll: (all: readonly PatternedCall[]) => inParallel(all, make, AT_ONCE[caller]),
  };
}

/** Makes all calls, at most `atOnce` at one time. Resolves with their answers, in the order of the calls. */
async function inParallel(all: readonly PatternedCall[], make: Make, atOnce: number) {
  const answers: PatternedAnswer[] = [];
  const waiting = all.entries();
  const worker = async () => {
    for (const [index, call] of waiting) answers[index] = await make(call);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return answers;
}

describe('every byte of both bodies is the one that was sent', () => {
  it.each([
    ['HTTP/1.1', false],
    ['HTTP/1.1', true],
    ['HTTP/2', false],
    ['HTTP/2', true],
  ] as const)(
    'callers with %s, upstream with TLS: %s',
    async (caller, upstreamTls) => {
      await fc.assert(
        fc.asyncProperty(calls, async (all) => {
          const { upstream, makeAll } = await setUp(caller, upstreamTls);
          const answers = await makeAll(all);
          const bad = answers.flatMap((answer, number) => {
            const isFailure = answer.status === 503 && all[number]?.failsFirst === true;
            return isFailure || (answer.status === 200 && answer.whole)
              ? []
              : [{ ...answer, ...all[number] }];
          });
          expect(bad).toEqual([]);
          const keyed = all.filter(
            ({ key, number }) => key !== undefined && answers[number]?.whole,
          );
          const replies = await makeAll(keyed);
          const notReplayed = replies.flatMap((reply, index) =>
            reply.whole && reply.replayed ? [] : [{ ...reply, ...keyed[index] }],
          );
          expect(notReplayed).toEqual([]);
          expect(upstream.wrong).toEqual([]);
        }),
        { numRuns: 1, endOnFailure: true },
      );
    },
    60_000,
  );
});
