import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { pino } from 'pino';
import { ModelLedger } from '../../../test/quota/model-ledger.ts';
import { ALL_PARTS } from './fleet.ts';
import { FleetMembership } from './fleet-membership.ts';
import type { SavedPlace } from './saved-place.ts';

const THIRD = Math.floor(ALL_PARTS / 3);
const log = pino({ level: 'silent' });
const idle = () => new Promise((resolve) => setImmediate(resolve));

/** Data planes in one fleet. */
function openWorld() {
  const clock = manualClock();
  const ledger = new ModelLedger();
  const live = new Set<string>();
  const saved = new Map<string, SavedPlace | undefined>();
  const lost: string[] = [];
  let processes = 0;
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100);
      await idle();
      while (ledger.pending > 0) {
        ledger.settle(0, 'answered');
        await idle();
      }
    }
  };
  const start = (id: string) => {
    processes += 1;
    const own = processes;
    const owing = { debt: false };
    live.add(id);
    const membership = new FleetMembership({
      store: ledger.fleetFrom(own),
      id,
      clock,
      log,
      serverMs: () => clock.nowMs(),
      timeKnown: () => true,
      isLive: (other) => live.has(other),
      saved: saved.get(id),
      save: (place) => void saved.set(id, place),
    });
    membership.start({
      shareChanged(next) {
        if (next === undefined) lost.push(id);
      },
      hasDebts: () => owing.debt,
      handOver: () => [],
    });
    return {
      membership,
      owing,
      process: own,
      share: () => {
        const { own: place } = membership.view;
        return place === undefined || clock.nowMs() < place.from_ms ? 0 : place.parts;
      },
      kill() {
        live.delete(id);
        ledger.kill(own);
      },
    };
  };
  return { clock, ledger, live, saved, lost, pass, start };
}

describe('the place of a data plane in the fleet', () => {
  it('is an equal share within 15 seconds, however many start together', async () => {
    const { start, pass } = openWorld();
    const all = ['a', 'b', 'c'].map(start);
    await pass(15_000);
    expect(all.map(({ share }) => share())).toEqual([THIRD, THIRD, THIRD]);
  });

  it('makes room for a data plane that starts later, before that one has a share', async () => {
    const { start, pass } = openWorld();
    const first = start('a');
    await pass(10_000);
    expect(first.share()).toBe(ALL_PARTS);
    const second = start('b');
    for (let passed = 0; passed < 100; passed += 1) {
      await pass(100);
      expect(first.share() + second.share()).toBeLessThanOrEqual(ALL_PARTS);
    }
    expect([first.share(), second.share()]).toEqual([ALL_PARTS / 2, ALL_PARTS / 2]);
  });

  it('is free at once when it leaves, and half a minute after it was killed', async () => {
    const { start, pass } = openWorld();
    const [first, second, third] = ['a', 'b', 'c'].map(start);
    await pass(15_000);
    const leaving = second?.membership.leave();
    await pass(100);
    await leaving;
    await pass(8000);
    expect([first?.share(), third?.share()]).toEqual([ALL_PARTS / 2, ALL_PARTS / 2]);
    third?.kill();
    await pass(28_000);
    expect(first?.share()).toBe(ALL_PARTS / 2);
    await pass(10_000);
    expect(first?.share()).toBe(ALL_PARTS);
  });

  it('is not used by the next process if it was left and the answer was lost', async () => {
    const { start, pass, ledger } = openWorld();
    const [first, second] = ['a', 'b'].map(start);
    await pass(15_000);
    const leaving = first?.membership.leave();
    for (const fate of ['answered', 'reply_lost', 'refused'] as const) {
      ledger.settle(0, fate);
      await idle();
    }
    await leaving;
    first?.kill();
    const again = start('a');
    ledger.cutOff(again.process);
    await pass(10_000);
    expect([again.share(), second?.share()]).toEqual([0, ALL_PARTS]);
  });

  it('is taken by the next process, without a share at first, if it could not be left', async () => {
    const { start, pass, ledger } = openWorld();
    const [first, second] = ['a', 'b'].map(start);
    await pass(15_000);
    const before = ledger.fleet.members;
    const leaving = first?.membership.leave();
    for (const fate of ['answered', 'refused', 'refused'] as const) {
      ledger.settle(0, fate);
      await idle();
    }
    await leaving;
    first?.kill();
    const again = start('a');
    await pass(100);
    // What is reserved in this place is no other data plane's any more.
    expect([again.membership.view.own?.slot, again.share()]).toEqual([before[0]?.slot, 0]);
    expect(again.membership.view.others).toHaveLength(1);
    await pass(10_000);
    expect([again.share(), second?.share()]).toEqual([ALL_PARTS / 2, ALL_PARTS / 2]);
    expect(ledger.fleet.members.map(({ slot }) => slot)).toEqual(before.map(({ slot }) => slot));
  });

  it('is not taken or saved again by a change that is under way when it is left', async () => {
    for (let settled = 0; settled < 30; settled += 1) {
      const { start, pass, clock, ledger, saved } = openWorld();
      const first = start('a');
      await pass(10_000);
      start('b');
      for (let calls = 0; calls < settled; calls += 1) {
        if (ledger.pending === 0) clock.advance(100);
        ledger.settle(0, 'answered');
        await idle();
      }
      const leaving = first.membership.leave();
      for (; ledger.pending > 0; await idle()) ledger.settle(ledger.pending - 1, 'answered');
      await leaving;
      const ids = ledger.fleet.members.map(({ id }) => id);
      expect([settled, ids.includes('a'), saved.get('a')]).toEqual([settled, false, undefined]);
    }
  });

  it('stays with the data folder of a process that was killed', async () => {
    const { start, pass, clock, ledger } = openWorld();
    const [first] = ['a', 'b', 'c'].map(start);
    await pass(15_000);
    first?.kill();
    const again = start('a');
    // Without NATS as well.
    ledger.cutOff(again.process);
    expect(again.membership.view.own?.parts).toBe(THIRD);
    expect(again.membership.view.own?.from_ms).toBeGreaterThan(clock.nowMs());
    ledger.reconnect(again.process);
    await pass(2000);
    expect(again.share()).toBe(THIRD);
    expect(ledger.fleet.members).toHaveLength(3);
  });

  it('stays with the data folder of a killed process that owed, but not for the windows that had begun', async () => {
    const { start, pass, clock, ledger } = openWorld();
    const [first] = ['a', 'b'].map(start);
    await pass(15_000);
    const slot = first?.membership.view.own?.slot;
    first?.membership.noteDebt();
    first?.kill();
    const again = start('a');
    const { spent } = again.membership.view;
    expect(spent?.beforeMs).toBeGreaterThan(clock.nowMs());
    expect(spent?.member.parts).toBe(ALL_PARTS / 2);
    await pass(2000);
    expect(again.membership.view.own?.slot).toBe(slot);
    expect(again.share()).toBe(ALL_PARTS / 2);
    expect(ledger.fleet.members).toHaveLength(2);
    // Until such windows have ended the share does not change.
    const third = start('c');
    await pass(40_000);
    expect(third.share()).toBeLessThan(THIRD);
    await pass(30_000);
    expect(third.share()).toBe(THIRD);
  });

  it.each([
    { owed: 'owed nothing', debt: false, members: ['b', 'c'] },
    { owed: 'owed', debt: true, members: ['a', 'b', 'c'] },
  ])(
    'is left by a killed process that $owed, if its data folder has another id then',
    async ({ debt, members }) => {
      const { start, pass, saved, ledger } = openWorld();
      const [first] = ['a', 'b'].map(start);
      await pass(15_000);
      if (debt) first?.membership.noteDebt();
      first?.kill();
      saved.set('c', saved.get('a'));
      const again = start('c');
      await pass(28_000);
      expect(ledger.fleet.members.map(({ id }) => id)).toEqual(members);
      await pass(10_000);
      expect(ledger.fleet.members.map(({ id }) => id)).toEqual(['b', 'c']);
      expect(again.share()).toBe(ALL_PARTS / 2);
    },
  );

  it('does not change while the ledger does not know of all grants', async () => {
    const { start, pass } = openWorld();
    const first = start('a');
    await pass(10_000);
    first.owing.debt = true;
    first.membership.noteDebt();
    const second = start('b');
    await pass(10_000);
    expect([first.share(), second.share()]).toEqual([ALL_PARTS, 0]);
    first.owing.debt = false;
    await pass(10_000);
    expect([first.share(), second.share()]).toEqual([ALL_PARTS / 2, ALL_PARTS / 2]);
  });

  it('is lost if the others took the data plane for dead, and taken anew', async () => {
    const { start, pass, ledger, live, lost } = openWorld();
    const [first, second] = ['a', 'b'].map(start);
    await pass(15_000);
    ledger.cutOff(first?.process ?? 0);
    live.delete('a');
    await pass(45_000);
    expect(second?.share()).toBe(ALL_PARTS);
    ledger.reconnect(first?.process ?? 0);
    live.add('a');
    await pass(10_000);
    expect(lost).toEqual(['a']);
    expect([first?.share(), second?.share()]).toEqual([ALL_PARTS / 2, ALL_PARTS / 2]);
  });

  it('is stored again by the one that returns first, if NATS has lost its data', async () => {
    const { start, pass, ledger } = openWorld();
    const [first, second] = ['a', 'b'].map(start);
    await pass(15_000);
    const before = ledger.fleet.members;
    for (const one of [first, second]) ledger.cutOff(one?.process ?? 0);
    ledger.loseAll();
    ledger.reconnect(first?.process ?? 0);
    await pass(2000);
    expect(ledger.fleet.members).toEqual(before);
    ledger.reconnect(second?.process ?? 0);
    await pass(2000);
    expect([first?.share(), second?.share()]).toEqual([ALL_PARTS / 2, ALL_PARTS / 2]);
  });
});
