import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from '@jest/globals';
import { manualClock } from '../../test/manual-clock.ts';
import { startNameServer } from '../../test/name-server.ts';
import { closeAfterEach } from '../../test/opened.ts';
import { systemClock, type Clock } from '../clock.ts';
import { codeOf, lookupError, type ResolveName } from './resolve-name.ts';
import { namesToAsk, resolveBySystem, SYSTEM_SOURCES } from './system-names.ts';

const opened = closeAfterEach();

/** A machine with these files, whose name server is that of the test. */
async function startMachine({
  hosts = '',
  more = '',
  before = '',
  clock = systemClock,
}: { hosts?: string; more?: string; before?: string; clock?: Clock } = {}) {
  const server = opened(await startNameServer());
  const folder = await mkdtemp(join(tmpdir(), 'names-'));
  opened({ close: () => rm(folder, { recursive: true }) });
  const files = {
    hosts: join(folder, 'hosts'),
    resolverConfiguration: join(folder, 'resolv.conf'),
  };
  const write = (text: string) => writeFile(files.hosts, text);
  await write(hosts);
  const own = `nameserver ${server.address}\nsearch .\n`;
  await writeFile(files.resolverConfiguration, before + own + more);
  const families: number[] = [];
  const asked: string[] = [];
  const elsewhere = new Map<string, string>();
  const resolve = resolveBySystem(
    {
      ...files,
      families() {
        families.push(families.length);
        return [4, 6];
      },
      lookUp(hostname) {
        asked.push(hostname);
        const address = elsewhere.get(hostname);
        if (address === 'hangs') return new Promise(() => undefined);
        if (address === undefined) return Promise.reject(lookupError('EAI_NONAME', hostname));
        return Promise.resolve([{ address, family: 4 }]);
      },
    },
    clock,
  );
  const know = (name: string, ...addresses: string[]) =>
    server.names.set(name, { addresses, ttlSeconds: 3600 });
  return { server, resolve, know, asked, elsewhere, families, write };
}

async function addressesOf(resolve: ResolveName, name: string): Promise<string[]> {
  return (await resolve(name)).addresses.map(({ address }: LookupAddress) => address);
}

describe('a name on this machine', () => {
  it('has the addresses of the hosts file, whatever name servers say', async () => {
    const { resolve, know } = await startMachine({
      hosts:
        '# none\n::1 six\n192.0.2.1 One.test one # 192.0.2.9\n2001:db8::1 one.test\nbad three\n',
    });
    know('one.test', '192.0.2.9');
    expect(await resolve('one.test')).toEqual({
      addresses: [
        { address: '192.0.2.1', family: 4 },
        { address: '2001:db8::1', family: 6 },
      ],
      ttlMs: 5000,
    });
    expect(await addressesOf(resolve, 'ONE.')).toEqual(['192.0.2.1']);
    expect(await addressesOf(resolve, 'six')).toEqual(['::1']);
  });

  it('follows a change of the hosts file', async () => {
    const clock = manualClock();
    const { resolve, write } = await startMachine({ hosts: '192.0.2.1 a.test\n', clock });
    expect(await addressesOf(resolve, 'a.test')).toEqual(['192.0.2.1']);
    await write('192.0.2.22 a.test\n');
    expect(await addressesOf(resolve, 'a.test')).toEqual(['192.0.2.1']);
    clock.advance(1000);
    expect(await addressesOf(resolve, 'a.test')).toEqual(['192.0.2.22']);
  });

  it('is this machine if it is localhost, without a question', async () => {
    const { resolve, server } = await startMachine();
    expect(await addressesOf(resolve, 'api.localhost')).toEqual(['127.0.0.1', '::1']);
    expect(server.asked).toEqual([]);
  });

  it('has the addresses of the name servers, for five seconds', async () => {
    const { resolve, know, asked } = await startMachine();
    know('a.test', '192.0.2.1', '::1');
    const found = await resolve('a.test');
    expect(found.addresses.map(({ address }) => address)).toEqual(['192.0.2.1', '::1']);
    expect(found.ttlMs).toBe(5000);
    expect(asked).toEqual([]);
  });

  it('is found in the domains of the search list', async () => {
    const { resolve, know, server } = await startMachine({
      more: 'search ns.cluster.test cluster.test\noptions ndots:2 timeout:1',
    });
    know('orders.cluster.test', '192.0.2.1');
    expect(await addressesOf(resolve, 'orders')).toEqual(['192.0.2.1']);
    expect(server.asked).toEqual(['orders.ns.cluster.test', 'orders.cluster.test']);
  });

  it('is asked elsewhere if name servers do not know it, and then the error is that of the machine', async () => {
    const { resolve, elsewhere } = await startMachine();
    elsewhere.set('printer.local', '192.0.2.7');
    expect(await addressesOf(resolve, 'printer.local')).toEqual(['192.0.2.7']);
    await expect(resolve('nowhere.test')).rejects.toMatchObject({ code: 'EAI_NONAME' });
  });

  it.each([
    ['fail', 2],
    ['do not know how to answer', 4],
    ['refuse to answer', 5],
  ])('is asked elsewhere if name servers %s, whose error it keeps', async (_what, failure) => {
    const { resolve, server, elsewhere } = await startMachine();
    for (const name of ['printer.local', 'broken.test']) {
      server.names.set(name, { addresses: [], ttlSeconds: 30, failure });
    }
    elsewhere.set('printer.local', '192.0.2.7');
    expect(await addressesOf(resolve, 'printer.local')).toEqual(['192.0.2.7']);
    const code = { 2: 'ESERVFAIL', 4: 'ENOTIMP', 5: 'EREFUSED' }[failure];
    await expect(resolve('broken.test')).rejects.toMatchObject({ code });
  });

  it('is asked of the name servers that are addresses, whatever else resolv.conf has', async () => {
    const before = 'nameserver localhost\nnameserver\nnameserver 1.2\nnameserver ::g\n';
    const { resolve, know, asked } = await startMachine({ before });
    know('a.test', '192.0.2.1');
    expect(await addressesOf(resolve, 'a.test')).toEqual(['192.0.2.1']);
    expect(asked).toEqual([]);
  });

  it('does not read the network interfaces for each lookup', async () => {
    const clock = manualClock();
    const { resolve, know, families } = await startMachine({ clock });
    know('a.test', '192.0.2.1', '::1');
    for (let at = 0; at < 5; at += 1) await resolve('a.test');
    expect(families).toHaveLength(1);
    clock.advance(5000);
    await resolve('a.test');
    expect(families).toHaveLength(2);
  });

  it('that no name server answers delays no other one and occupies no thread', async () => {
    const clock = manualClock();
    const { resolve, know, server, asked } = await startMachine({ clock });
    let ended = 0;
    const hung = Array.from({ length: 20 }, (_none, at) => `hung-${at}.test`);
    for (const name of hung) server.silentNames.add(name);
    const lookups = hung.map((name) =>
      resolve(name).catch((error: unknown) => {
        ended += 1;
        return codeOf(error);
      }),
    );
    know('good.test', '192.0.2.1');
    for (let at = 0; at < 20; at += 1) {
      expect(await addressesOf(resolve, 'good.test')).toEqual(['192.0.2.1']);
    }
    expect(ended).toBe(0);
    clock.advance(5000);
    expect(new Set(await Promise.all(lookups))).toEqual(new Set(['ETIMEOUT']));
    expect(asked).toEqual([]);
  });

  it('that hangs elsewhere delays only names that name servers do not know, for a bounded time', async () => {
    const clock = manualClock();
    const { resolve, know, elsewhere, asked } = await startMachine({ clock });
    know('good.test', '192.0.2.1');
    elsewhere.set('hung.local', 'hangs');
    const hung = resolve('hung.local').catch(codeOf);
    while (asked.length === 0) await new Promise(setImmediate);
    // Only now: at the same time it could be the first one that is asked for.
    const printer = resolve('printer.local').catch(codeOf);
    expect(await addressesOf(resolve, 'good.test')).toEqual(['192.0.2.1']);
    // Twice: the second name may have begun to wait after the first advance.
    clock.advance(5000);
    await new Promise(setImmediate);
    clock.advance(5000);
    expect(await Promise.all([hung, printer])).toEqual(['ETIMEOUT', 'ETIMEOUT']);
    expect(asked).toHaveLength(1);
  });
});

describe('the names that a name may stand for', () => {
  it.each([
    ['a', 1, ['a.one', 'a.two', 'a']],
    ['a.b', 1, ['a.b', 'a.b.one', 'a.b.two']],
    ['a.b', 5, ['a.b.one', 'a.b.two', 'a.b']],
    ['a.', 1, ['a.']],
  ])('are tried in the order of resolv.conf: %s with ndots %d', (name, ndots, names) => {
    expect(namesToAsk(name, ['one', 'two'], ndots)).toEqual(names);
  });
});

it('the names of the machine that runs this are found', async () => {
  const resolve = resolveBySystem(SYSTEM_SOURCES, systemClock);
  const loopback = ['127.0.0.1', '::1'];
  const found = await addressesOf(resolve, 'localhost');
  expect(found.length).toBeGreaterThan(0);
  for (const address of found) expect(loopback).toContain(address);
});
