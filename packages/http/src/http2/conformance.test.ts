import { readFile } from 'node:fs/promises';
import { describe, expect, it, test } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import type { Case, Expected } from '../../test/http2-cases/case.ts';
import { ERRORS } from '../../test/http2-cases/errors.ts';
import { EXCHANGES } from '../../test/http2-cases/exchanges.ts';
import { HPACK } from '../../test/http2-cases/hpack.ts';
import { OWN } from '../../test/http2-cases/own.ts';
import { get, type FrameClient } from '../../test/http2-frames.ts';
import { serveHttp2EachTest } from '../../test/http2-world.ts';
import { ERROR, FLAG, FRAME, PREFACE } from './protocol.ts';

/** A stream that the cases do not use. */
const LATER = 201;

const world = serveHttp2EachTest();

async function check(client: FrameClient, expected: Expected): Promise<void> {
  if (expected === 'settings') await client.frame(FRAME.settings);
  else if (expected === 'acknowledged') {
    await eventually(() => {
      expect(client.of(FRAME.settings).filter(({ flags }) => flags === FLAG.ack)).toHaveLength(2);
    });
  } else if (expected === 'alive') {
    await client.settled();
    await servesOthers(client);
  } else if ('goAway' in expected) {
    expect(await client.goneWith()).toBe(expected.goAway);
    expect(world.ended).toEqual(['HTTP2_INVALID_FRAME']);
  } else if ('answer' in expected) {
    await client.ended(expected.answer);
    const [head] = client.of(FRAME.headers, expected.answer);
    expect(head === undefined ? undefined : client.fields(head)[':status']).toBe('200');
    await servesOthers(client);
  } else if ('data' in expected) {
    await client.settled();
    const sizes = client.of(FRAME.data, 1).map(({ payload }) => payload.length);
    expect(sizes).toEqual(expected.data);
  } else {
    const stream = expected.stream ?? 1;
    const { payload } = await client.frame(FRAME.rstStream, stream);
    expect(payload.readUInt32BE(0)).toBe(expected.reset);
    await client.settled();
    expect(client.of(FRAME.rstStream, stream)).toHaveLength(1);
    // With all streams in use, no other can be served.
    if (expected.reset !== ERROR.refusedStream) await servesOthers(client);
  }
}

/** A malformed stream never harms its siblings. */
async function servesOthers(client: FrameClient): Promise<void> {
  client.send(get(LATER));
  await client.frame(FRAME.headers, LATER);
  expect(client.of(FRAME.goAway)).toEqual([]);
  expect(client.isClosed).toBe(false);
}

async function run([, , steps, expected]: Case): Promise<void> {
  const client = await world.connect();
  let pending: Buffer[] = [];
  for (const step of steps) {
    if (Buffer.isBuffer(step)) pending.push(step);
    else {
      client.send(...pending);
      pending = [];
      await step(client);
    }
  }
  client.send(...pending);
  await check(client, expected);
  expect(world.internalErrors).toEqual([]);
}

describe('HTTP/2 (RFC 9113)', () => {
  it.each(EXCHANGES.map((one) => [...one.slice(0, 2), one]) as [string, string, Case][])(
    'section %s: %s is accepted',
    async (_section, _name, one) => {
      await run(one);
    },
  );

  it.each(ERRORS.map((one) => [...one.slice(0, 2), one]) as [string, string, Case][])(
    'section %s: %s is refused',
    async (_section, _name, one) => {
      await run(one);
    },
  );

  it.each([
    ['another preface', Buffer.from('INVALID CONNECTION PREFACE\r\n\r\n')],
    ['a preface without settings', Buffer.concat([PREFACE, get()])],
  ])('section 3.4: %s is refused', async (_name, bytes) => {
    const client = await world.open();
    client.send(bytes);
    expect(await client.goneWith()).toBe(ERROR.protocolError);
  });
});

describe('what h2spec does not test', () => {
  it.each(OWN.map((one) => [...one.slice(0, 2), one]) as [string, string, Case][])(
    'section %s: %s',
    async (_section, _name, one) => {
      await run(one);
    },
  );
});

describe('HPACK (RFC 7541)', () => {
  it.each(HPACK.map((one) => [...one.slice(0, 2), one]) as [string, string, Case][])(
    'section %s: %s',
    async (_section, _name, one) => {
      await run(one);
    },
  );
});

test('the tables have the 147 cases of h2spec 2.6', () => {
  // That of another preface is above.
  expect(EXCHANGES.length + ERRORS.length + HPACK.length + 1).toBe(147);
});

test('docs/run/security.md has the number of the other cases', async () => {
  const page = await readFile(new URL('../../../../docs/run/security.md', import.meta.url), 'utf8');
  expect(/`--strict`, and\s(\d+)\smore/.exec(page)?.[1]).toBe(String(OWN.length));
});
