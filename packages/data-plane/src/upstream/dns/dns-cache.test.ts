import type { LookupAddress } from 'node:dns';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import type { ResolvedName } from '@gateway/shared/dns/resolve-name';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { captureLog } from '../../../test/captured-log.ts';
import { DnsCache } from './dns-cache.ts';

const NAME = 'upstream.test';
const TTL_MS = 10_000;
const STALE_MS = 300_000;

/** A cache over a resolver whose answers the test gives. */
function startNames(maxNames?: number) {
  const clock = manualClock();
  const { log, lines } = captureLog();
  const questions: { name: string; answer: PromiseWithResolvers<ResolvedName> }[] = [];
  const names = new DnsCache({
    clock,
    log,
    staleMs: STALE_MS,
    resolve(name) {
      const answer = Promise.withResolvers<ResolvedName>();
      questions.push({ name, answer });
      return answer.promise;
    },
    ...(maxNames !== undefined && { maxNames }),
  });
  const look = promisify(names.lookup) as (
    name: string,
    options: { all: true; family?: number },
  ) => Promise<LookupAddress[]>;
  const lookup = async (name = NAME, family?: number) => {
    const found = await look(name, { all: true, ...(family !== undefined && { family }) });
    return found.map(({ address }) => address);
  };
  const give = (...addresses: string[]) => {
    const given = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    questions.at(-1)?.answer.resolve({ addresses: given, ttlMs: TTL_MS });
  };
  const fail = (code = 'ESERVFAIL') => {
    questions.at(-1)?.answer.reject(Object.assign(new Error(code), { code }));
  };
  /** Asks for the name and answers. */
  const learn = async (...addresses: string[]) => {
    const asking = lookup();
    give(...addresses);
    return asking;
  };
  return { names, clock, lines, questions, lookup, give, fail, learn };
}

describe('the addresses of a name', () => {
  it('are looked up once for simultaneous connections, and again after their time to live', async () => {
    const { clock, questions, lookup, give, learn } = startNames();
    const first = [lookup(), lookup()];
    give('192.0.2.1');
    expect(await Promise.all(first)).toEqual([['192.0.2.1'], ['192.0.2.1']]);
    clock.advance(TTL_MS - 1);
    expect(await lookup()).toEqual(['192.0.2.1']);
    expect(questions).toHaveLength(1);
    clock.advance(1);
    expect(await learn('192.0.2.2')).toEqual(['192.0.2.2']);
    expect(questions).toHaveLength(2);
  });

  it('are used for a bounded time after their time to live if the name does not resolve', async () => {
    const { clock, lookup, fail, learn, names, lines } = startNames();
    await learn('192.0.2.1');
    clock.advance(TTL_MS);
    const during = lookup();
    fail('ENOTFOUND');
    expect(await during).toEqual(['192.0.2.1']);
    expect(names.staleNames).toBe(1);
    clock.advance(STALE_MS - 1);
    const last = lookup();
    fail();
    expect(await last).toEqual(['192.0.2.1']);
    clock.advance(1000);
    const after = lookup();
    fail('ETIMEOUT');
    await expect(after).rejects.toMatchObject({ code: 'ETIMEOUT' });
    expect(names.staleNames).toBe(0);
    expect(names.counts).toEqual({ answered: 1, failed: 3, stale: 2, dropped: 0 });
    expect(lines.map(({ msg }) => msg)).toEqual([
      'DNS lookup failed; using the last good addresses',
      'DNS lookup failed; no usable addresses',
    ]);
  });

  it('are missing in the reasons why a data plane is degraded, for a minute after the last lookup', async () => {
    const { clock, lookup, fail, give, names } = startNames();
    expect(names.reasons()).toEqual([]);
    for (const [name, code] of [
      ['hung.test', 'ETIMEOUT'],
      ['missing.test', 'ENOTFOUND'],
    ] as const) {
      const asking = lookup(name);
      fail(code);
      await expect(asking).rejects.toMatchObject({ code });
    }
    expect(names.reasons()).toEqual(['names without a DNS answer: hung.test']);
    expect(names.unansweredNames).toBe(1);
    clock.advance(59_999);
    expect(names.unansweredNames).toBe(1);
    const again = lookup('hung.test');
    give('192.0.2.1');
    await again;
    expect(names.reasons()).toEqual([]);
    const other = lookup('other.test');
    fail('ETIMEOUT');
    await expect(other).rejects.toMatchObject({ code: 'ETIMEOUT' });
    clock.advance(60_000);
    expect([names.reasons(), names.unansweredNames]).toEqual([[], 0]);
  });

  it('are shown for ten names of many that are not answered', async () => {
    const { lookup, fail, names } = startNames();
    for (let at = 0; at < 12; at += 1) {
      const asking = lookup(`n${at}.test`);
      fail('ETIMEOUT');
      await asking.catch(() => undefined);
    }
    expect(names.reasons()[0]).toMatch(/: n0\.test, .*n9\.test and 2 more$/);
  });

  it('are replaced as soon as the name resolves again', async () => {
    const { clock, lookup, fail, learn, lines } = startNames();
    await learn('192.0.2.1');
    clock.advance(TTL_MS);
    const during = lookup();
    fail();
    await during;
    clock.advance(1000);
    expect(await learn('192.0.2.2')).toEqual(['192.0.2.2']);
    expect(lines.map(({ msg }) => msg).slice(1)).toEqual([
      'DNS lookup succeeds again',
      'DNS addresses replaced',
    ]);
  });

  it('that were good are used if the resolver hangs; only the first connections wait', async () => {
    const { clock, lookup, give, learn, questions } = startNames();
    await learn('192.0.2.1');
    clock.advance(TTL_MS);
    const waiting = lookup();
    clock.advance(300);
    expect(await waiting).toEqual(['192.0.2.1']);
    expect(await lookup()).toEqual(['192.0.2.1']);
    expect(questions).toHaveLength(2);
    give('192.0.2.2');
    await questions.at(-1)?.answer.promise;
    expect(await lookup()).toEqual(['192.0.2.2']);
  });

  it('are waited for if there are none yet, however long the resolver takes', async () => {
    const { clock, lookup, give } = startNames();
    const waiting = lookup();
    clock.advance(5000);
    give('192.0.2.1');
    expect(await waiting).toEqual(['192.0.2.1']);
  });

  it('are not looked up for each connection if the name does not resolve', async () => {
    const { clock, lookup, fail, questions } = startNames();
    const first = lookup();
    fail('ENOTFOUND');
    await expect(first).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(lookup()).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(questions).toHaveLength(1);
    clock.advance(1000);
    const again = lookup();
    fail('ENOTFOUND');
    await expect(again).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(questions).toHaveLength(2);
  });

  it('are used in turn within their families, so that connections spread over all of them', async () => {
    const { lookup, learn } = startNames();
    expect(await learn('192.0.2.1', '192.0.2.2', '2001:db8::1')).toEqual([
      ...['192.0.2.1', '192.0.2.2', '2001:db8::1'],
    ]);
    expect(await lookup()).toEqual(['192.0.2.2', '192.0.2.1', '2001:db8::1']);
    expect(await lookup(NAME, 6)).toEqual(['2001:db8::1']);
  });

  it('of the least recently used name are removed if there are too many names', async () => {
    const { names, lookup, give, questions } = startNames(2);
    for (const name of ['a.test', 'b.test', 'a.test', 'c.test', 'a.test']) {
      const asking = lookup(name);
      if (questions.at(-1)?.name === name) give('192.0.2.1');
      await asking;
    }
    expect(names.size).toBe(2);
    expect(names.counts.dropped).toBe(1);
    expect(questions.map(({ name }) => name)).toEqual(['a.test', 'b.test', 'c.test']);
  });
});
