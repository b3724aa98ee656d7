import { describe, expect, it } from '@jest/globals';
import type { RequestContext } from '../request/context.ts';
import { hashText } from '../routing-table/hash-text.ts';
import { Affinities } from '../affinity/affinities.ts';
import { createPickVersion } from './pick-version-stage.ts';

const versions = Array.from({ length: 16 }, (_none, at) => {
  return { name: `v${at}`, service: {}, weight: 1, seed: hashText(`v${at}`) };
});

function versionOf(clientIp: string, principal?: string): string | undefined {
  const ctx = { route: { name: 'orders', versions }, clientIp, principal, inbound: {} };
  void createPickVersion(new Affinities([], () => undefined))(ctx as unknown as RequestContext);
  return (ctx as unknown as RequestContext).version?.name;
}

describe('the version of an unauthenticated caller', () => {
  const hosts = Array.from({ length: 100 }, (_none, at) => at + 1);

  it('stays the same within a /64 network in IPv6', () => {
    const one = new Set(hosts.map((host) => versionOf(`2001:db8:0:1::${host}`)));
    expect(one.size).toBe(1);
    const networks = new Set(hosts.map((host) => versionOf(`2001:db8:0:${host}::1`)));
    expect(networks.size).toBeGreaterThan(8);
  });

  it('depends on the whole address in IPv4', () => {
    const addresses = new Set(hosts.map((host) => versionOf(`203.0.113.${host}`)));
    expect(addresses.size).toBeGreaterThan(8);
  });

  it('does not depend on the address of an authenticated caller', () => {
    const known = new Set(hosts.map((host) => versionOf(`203.0.113.${host}`, 'tok_1')));
    expect(known.size).toBe(1);
  });
});
