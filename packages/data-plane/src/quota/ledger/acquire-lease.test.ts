import { describe, expect, it } from '@jest/globals';
import { fixedFleet } from '../../../test/quota/fixed-fleet.ts';
import { ANSWER_MS, type WriteResult } from '../../nats/kv-write.ts';
import { acquireLease } from './acquire-lease.ts';
import { WRITE_MS, type LedgerEntry, type QuotaLedger } from './ledger.ts';

const WINDOW = 7;
const GRANTED = 80;
const RETURNED = 30;
const OTHERS = 5;

/** Stores the first write without an answer, and then a lease of another data plane. */
class OvertakenLedger implements QuotaLedger {
  readonly reachable = true;
  readonly losses = 0;
  entry: LedgerEntry = {
    window: WINDOW,
    window_ms: 1000,
    granted: GRANTED,
    lease: 'before',
    reserves: {},
  };
  readonly readWithinMs: (number | undefined)[] = [];
  #revision = 1;

  boundOf() {
    return undefined;
  }

  forget(): void {
    // It has no bounds.
  }

  read(_key: unknown, withinMs?: number) {
    this.readWithinMs.push(withinMs);
    return Promise.resolve({ entry: this.entry, revision: this.#revision });
  }

  write(_key: unknown, entry: LedgerEntry, revision: number): Promise<WriteResult> {
    if (revision !== this.#revision) return Promise.resolve({ kind: 'conflict' });
    this.#revision += 1;
    this.entry = entry;
    if (revision > 1) return Promise.resolve({ kind: 'written', revision: this.#revision });
    this.#revision += 1;
    this.entry = { ...entry, granted: entry.granted + OTHERS, lease: 'other' };
    return Promise.resolve({ kind: 'unknown' });
  }
}

describe('a lease', () => {
  it('is returned once, even if the answer is lost and a lease of another data plane follows', async () => {
    const ledger = new OvertakenLedger();
    const request = {
      key: { hash: 'a1', windowMs: 1000 },
      window: WINDOW,
      startMs: WINDOW * 1000,
      nowMs: WINDOW * 1000 + 500,
      windowMs: 1000,
      fleet: fixedFleet({ nodes: 2, node: 0, shares: false }).view,
      reserve: 0,
      released: new Map(),
      limit: 100,
      nodes: 2,
      waiting: 1,
      expected: 0,
      debt: 0,
      toReturn: RETURNED,
      grantedBeforeLoss: 0,
      settleOnly: false,
    };
    const tally = { conflicts: 0, unanswered: 0, certainlyLeft: Infinity };
    const outcome = await acquireLease(ledger, request, undefined, () => 'own', tally);
    if (outcome.kind !== 'answered') throw new Error(outcome.kind);
    // The write and the read after it may take as long together as one read.
    expect(ledger.readWithinMs).toEqual([undefined, ANSWER_MS - WRITE_MS]);
    expect(tally).toEqual({ conflicts: 0, unanswered: 1, certainlyLeft: Infinity });
    const truly = GRANTED - RETURNED + OTHERS + outcome.size;
    expect(ledger.entry.granted).toBeGreaterThanOrEqual(truly);
  });
});
