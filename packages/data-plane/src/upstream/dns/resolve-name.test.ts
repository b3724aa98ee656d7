import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { startNameServer } from '@gateway/shared/test/name-server';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { resolveByServers, resolveBySystem } from './resolve-name.ts';

const opened = closeAfterEach();

async function startResolver() {
  const server = opened(await startNameServer());
  return { server, resolve: resolveByServers([server.address], systemClock) };
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

  it('fails in bounded time if they do not answer', async () => {
    const { server, resolve } = await startResolver();
    server.silent = true;
    await expect(resolve('a.test')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  });

  it('is not sent to them if it means this machine', async () => {
    const { server, resolve } = await startResolver();
    const { addresses } = await resolve('localhost');
    expect(addresses.length).toBeGreaterThan(0);
    expect(server.asked).toEqual([]);
  });
});

describe('a name that is resolved by the system', () => {
  it('is found in the hosts file', async () => {
    const { addresses, ttlMs } = await resolveBySystem('localhost');
    const loopback = ['127.0.0.1', '::1'];
    for (const { address } of addresses) expect(loopback).toContain(address);
    expect(addresses.length).toBeGreaterThan(0);
    expect(ttlMs).toBe(5000);
  });
});
