import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CompiledService, CompiledUpstream } from '../routing-table/routing-table.ts';
import { SessionSuffixes } from './session-suffixes.ts';

const key = (id: string, byte: number) => ({ id, bytes: new Uint8Array(32).fill(byte) });
const OLD = key('k1', 1);
const NEW = key('k2', 2);
const suffixes = new SessionSuffixes([OLD]);

function service(id: string, upstreams: readonly string[]): CompiledService {
  const compiled = upstreams.map((upstream) => ({ id: upstream, serviceId: id }));
  return { id, upstreams: compiled } as unknown as CompiledService;
}

const orders = service('svc_orders', ['ups_1', 'ups_2', 'ups_3']);
const [first, second] = orders.upstreams as [CompiledUpstream, CompiledUpstream];

describe('the suffix of a session id', () => {
  it('names the upstream and leaves the id, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.constantFrom(first, second), (id, upstream) => {
        const signed = suffixes.signed(id, upstream);
        expect(suffixes.read(signed, [orders])).toEqual({ kind: 'known', id, upstream });
      }),
    );
  });

  it('has 41 characters that cookies and MCP allow, and nothing of the names of the upstream', () => {
    const suffix = suffixes.signed('x', first).slice(1);
    expect(suffix).toMatch(/^~gw[A-Za-z0-9_-]{38}$/);
    expect(suffix).not.toContain('ups_');
    expect(suffixes.signed('x', second)).not.toBe(suffixes.signed('x', first));
  });

  it('is refused if any of its characters, or the id, is changed', () => {
    const signed = suffixes.signed('session-1', first);
    for (let at = 0; at < signed.length; at += 1) {
      const other = signed[at] === 'A' ? 'B' : 'A';
      const changed = signed.slice(0, at) + other + signed.slice(at + 1);
      expect(suffixes.read(changed, [orders]).kind).not.toBe('known');
    }
    expect(suffixes.read(`x${signed}`, [orders]).kind).toBe('changed');
    expect(suffixes.read(`session-2${signed.slice(-41)}`, [orders]).kind).toBe('changed');
  });

  it('is no other upstream after its name is exchanged', () => {
    const [one, other] = [suffixes.signed('s', first), suffixes.signed('s', second)];
    const exchanged = one.slice(0, 8) + other.slice(8, 20) + one.slice(20);
    expect(suffixes.read(exchanged, [orders])).toEqual({ kind: 'changed' });
  });

  it('is worth nothing at another service, also if that has an upstream of the same id', () => {
    const signed = suffixes.signed('session-1', first);
    const copy = service('svc_copy', ['ups_1', 'ups_2', 'ups_3']);
    expect(suffixes.read(signed, [copy])).toEqual({ kind: 'gone' });
    expect(suffixes.read(signed, [copy, orders]).kind).toBe('known');
  });

  it('says that its upstream is gone', () => {
    const signed = suffixes.signed('session-1', first);
    const without = service('svc_orders', ['ups_2', 'ups_3']);
    expect(suffixes.read(signed, [without])).toEqual({ kind: 'gone' });
  });

  it('stays valid as long as its master key is listed', () => {
    const signed = suffixes.signed('session-1', first);
    const rotated = new SessionSuffixes([NEW, OLD]);
    expect(rotated.read(signed, [orders]).kind).toBe('known');
    expect(rotated.signed('session-1', first)).not.toBe(signed);
    expect(suffixes.read(rotated.signed('session-1', first), [orders]).kind).toBe('gone');
    expect(new SessionSuffixes([NEW]).read(signed, [orders])).toEqual({ kind: 'gone' });
  });

  it('is missing in an id that the gateway did not give out', () => {
    for (const id of ['', 'abc', '~gw', `~gw${'A'.repeat(37)}`, `a~gw${'A'.repeat(37)}.`]) {
      expect(suffixes.read(id, [orders])).toEqual({ kind: 'unsigned' });
    }
    // Without an id before it, it is none.
    expect(suffixes.read(suffixes.signed('', first), [orders])).toEqual({ kind: 'unsigned' });
  });
});
