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

describe('a name that name servers are asked for', () => {
  it('has the addresses that they tell now, with their time to live', async () => {
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

  it('has IPv4 addresses first, and IPv6 ones alone where there are no others', async () => {
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
  ])('lives %d s as they say, and %d ms here', async (ttlSeconds, ttlMs) => {
    const { server, resolve } = await startResolver();
    server.names.set('a.test', { addresses: ['192.0.2.1'], ttlSeconds });
    expect((await resolve('a.test')).ttlMs).toBe(ttlMs);
  });

  it('is not there where they say so, or where it has no address', async () => {
    const { server, resolve } = await startResolver();
    server.names.set('empty.test', { addresses: [], ttlSeconds: 30 });
    await expect(resolve('missing.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(resolve('empty.test')).rejects.toMatchObject({ code: 'ENODATA' });
  });

  it('fails in bounded time where they are silent', async () => {
    const { server, resolve } = await startResolver();
    server.silent = true;
    await expect(resolve('a.test')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  });

  it('is not told to them where it is this machine', async () => {
    const { server, resolve } = await startResolver();
    const { addresses } = await resolve('localhost');
    expect(addresses.length).toBeGreaterThan(0);
    expect(server.asked).toEqual([]);
  });
});

describe('a name that the machine is asked for', () => {
  it('is found where its hosts file has it', async () => {
    const { addresses, ttlMs } = await resolveBySystem('localhost');
    const loopback = ['127.0.0.1', '::1'];
    for (const { address } of addresses) expect(loopback).toContain(address);
    expect(addresses.length).toBeGreaterThan(0);
    expect(ttlMs).toBe(5000);
  });
});
