import { describe, expect, it } from '@jest/globals';
import { AuthFailures, SIGNATURE_CHECKS_PER_SECOND } from './auth-failures.ts';

const NOW = Date.UTC(2030, 0, 1);

describe('the failed authentications of an address', () => {
  it('are granted up to the limit per minute and again in the next minute', () => {
    const failures = new AuthFailures(2, 10);
    const granted = (nowMs: number) => failures.count('203.0.113.1', nowMs).granted;
    expect([granted(NOW), granted(NOW + 1), granted(NOW + 59_999)]).toEqual([true, true, false]);
    expect(failures.count('203.0.113.2', NOW).granted).toBe(true);
    expect(granted(NOW + 60_000)).toBe(true);
  });

  it('are counted per /64 network in IPv6, because a caller may have all its addresses', () => {
    const failures = new AuthFailures(2, 1);
    for (const address of ['2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:1:ffff::3']) {
      failures.count(address, NOW);
    }
    expect(failures.left('2001:db8:0:1::4', NOW).remaining).toBe(0);
    expect(failures.left('2001:db8:0:2::1', NOW).remaining).toBe(2);
    expect(failures.dropped).toBe(0);
  });

  it('allow any number of signature checks up to the limit, and a small number a second past it', () => {
    const failures = new AuthFailures(1, 10);
    const checks = (address: string, nowMs: number, count = 20) =>
      Array.from({ length: count }, () => {
        const end = failures.beginSignatureCheck(address, nowMs);
        end?.();
        return end;
      }).filter((end) => end !== undefined).length;
    expect(checks('2001:db8:0:1::1', NOW)).toBe(20);
    failures.count('2001:db8:0:1::1', NOW);
    expect(failures.hasSignatureCheck('2001:db8:0:1::2', NOW)).toBe(true);
    expect(checks('2001:db8:0:1::1', NOW, 7)).toBe(7);
    expect(checks('2001:db8:0:1::2', NOW + 999)).toBe(SIGNATURE_CHECKS_PER_SECOND - 7);
    expect(failures.hasSignatureCheck('2001:db8:0:1::3', NOW + 999)).toBe(false);
    expect(checks('2001:db8:0:2::1', NOW + 999)).toBe(20);
    expect(checks('2001:db8:0:1::1', NOW + 1000)).toBe(SIGNATURE_CHECKS_PER_SECOND);
    expect(checks('2001:db8:0:1::1', NOW + 60_000)).toBe(20);
  });

  it('count checks under way, each of which may become a failure', () => {
    const failures = new AuthFailures(5, 1);
    failures.count('203.0.113.1', NOW);
    const begin = () => failures.beginSignatureCheck('203.0.113.1', NOW);
    const ends = Array.from({ length: 100 }, begin).filter((end) => end !== undefined);
    // Four are left of the allowance.
    expect(ends).toHaveLength(4 + SIGNATURE_CHECKS_PER_SECOND);
    for (const end of ends) end();
    expect(Array.from({ length: 100 }, begin).filter((end) => end !== undefined)).toHaveLength(4);
  });

  it('count the signature checks of a bounded number of addresses', () => {
    const failures = new AuthFailures(1, 1000);
    for (let index = 0; index < 1500; index += 1) {
      failures.count(`address ${index}`, NOW);
      failures.beginSignatureCheck(`address ${index}`, NOW);
    }
    expect(failures.dropped).toBe(1000);
  });

  it('are not changed by reading them', () => {
    const failures = new AuthFailures(1, 1);
    expect(failures.left('203.0.113.1', NOW).remaining).toBe(1);
    failures.left('203.0.113.2', NOW);
    expect(failures.left('203.0.113.1', NOW).remaining).toBe(1);
    expect(failures.dropped).toBe(0);
  });

  it('are kept for a bounded number of addresses, and dropped ones are counted', () => {
    const failures = new AuthFailures(1, 1000);
    for (let index = 0; index < 5000; index += 1) failures.count(`address ${index}`, NOW);
    expect(failures.dropped).toBe(4000);
    expect(failures.left('address 3999', NOW).remaining).toBe(1);
    expect(failures.left('address 4000', NOW).remaining).toBe(0);
  });
});
