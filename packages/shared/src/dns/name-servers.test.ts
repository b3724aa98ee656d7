import { describe, expect, it } from '@jest/globals';
import { startNameServer } from '../../test/name-server.ts';
import { closeAfterEach } from '../../test/opened.ts';
import { systemClock } from '../clock.ts';
import { NameServers } from './name-servers.ts';
import { codeOf } from './resolve-name.ts';
import { resolveByServers } from './system-names.ts';

const opened = closeAfterEach();

async function startResolver() {
  const server = opened(await startNameServer());
  return { server, resolve: resolveByServers([server.address], systemClock) };
}

/** The same with less patience. */
async function startImpatient() {
  const server = opened(await startNameServer());
  const options = { servers: [server.address], tries: 1, timeoutMs: 50, clock: systemClock };
  const servers = new NameServers(options);
  return { server, resolve: (name: string) => servers.resolve(name) };
}

describe('a name that is resolved by name servers', () => {
  it('has the addresses of their answers, with their time to live', async () => {
    const { server, resolve } = await startResolver();
    server.names.set('a.test', { addresses: ['192.0.2.1', '192.0.2.2'], ttlSeconds: 30 });
    expect(await resolve('a.test')).toEqual({
      addresses: [
        { address: '192.0.2.1', family: 4 },
        { address: '192.0.2.2', family: 4 },
      ],
      ttlMs: 30_000,
    });
    server.names.set('a.test', { addresses: ['192.0.2.3'], ttlSeconds: 30 });
    expect((await resolve('a.test')).addresses).toEqual([{ address: '192.0.2.3', family: 4 }]);
  });

  it('has IPv4 addresses first, and only IPv6 ones if there are no others', async () => {
    const { server, resolve } = await startResolver();
    const six = { address: '::1', family: 6 };
    server.names.set('a.test', { addresses: ['::1', '192.0.2.1'], ttlSeconds: 30 });
    server.names.set('six.test', { addresses: ['::1'], ttlSeconds: 30 });
    const both = [{ address: '192.0.2.1', family: 4 }, six];
    expect((await resolve('a.test')).addresses).toEqual(both);
    expect((await resolve('six.test')).addresses).toEqual([six]);
  });

  it.each([
    [0, 1_000],
    [86_400, 60_000],
  ])('with a time to live of %d s is used for %d ms', async (ttlSeconds, ttlMs) => {
    const { server, resolve } = await startResolver();
    server.names.set('a.test', { addresses: ['192.0.2.1'], ttlSeconds });
    expect((await resolve('a.test')).ttlMs).toBe(ttlMs);
  });

  it('does not exist if they say so, or if it has no address', async () => {
    const { server, resolve } = await startResolver();
    server.names.set('empty.test', { addresses: [], ttlSeconds: 30 });
    await expect(resolve('missing.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(resolve('empty.test')).rejects.toMatchObject({ code: 'ENODATA' });
  });

  it('has no address if it is an alias of a name that has none', async () => {
    const { server, resolve } = await startResolver();
    server.names.set('alias.test', { addresses: [], ttlSeconds: 30, alias: 'b.test' });
    await expect(resolve('alias.test')).rejects.toMatchObject({ code: 'ENODATA' });
  });

  it('does not exist if they say so for one family, even if they are silent for the other', async () => {
    const { server, resolve } = await startImpatient();
    server.silentForIpv6 = true;
    await expect(resolve('missing.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('fails in bounded time if they do not answer', async () => {
    const { server, resolve } = await startResolver();
    server.silent = true;
    await expect(resolve('a.test')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  });

  it('is answered while others are not, and again as soon as it is answered', async () => {
    const { server, resolve } = await startImpatient();
    const hung = Array.from({ length: 20 }, (_none, at) => `hung-${at}.test`);
    for (const name of hung) server.silentNames.add(name);
    let ended = 0;
    const lookups = hung.map((name) =>
      resolve(name).catch((error: unknown) => {
        ended += 1;
        return codeOf(error);
      }),
    );
    for (let at = 0; at < 20; at += 1) {
      server.names.set(`good-${at}.test`, { addresses: ['192.0.2.1'], ttlSeconds: 30 });
      await resolve(`good-${at}.test`);
    }
    expect(ended).toBe(0);
    expect(new Set(await Promise.all(lookups))).toEqual(new Set(['ETIMEOUT']));
    server.silentNames.clear();
    server.names.set('hung-0.test', { addresses: ['192.0.2.2'], ttlSeconds: 30 });
    expect((await resolve('hung-0.test')).addresses).toEqual([{ address: '192.0.2.2', family: 4 }]);
  });

  it('has the failure of the family that failed, not that the other one has no address', async () => {
    const { server, resolve } = await startImpatient();
    server.names.set('four.test', { addresses: [], ttlSeconds: 30 });
    server.silentForIpv6 = true;
    await expect(resolve('four.test')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  });

  it('is not sent to them if it means this machine', async () => {
    const { server, resolve } = await startResolver();
    const { addresses } = await resolve('localhost');
    expect(addresses.length).toBeGreaterThan(0);
    expect(server.asked).toEqual([]);
  });
});
