import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FIRST_WINDOW } from './protocol.ts';
import { WindowBudget } from './window-budget.ts';
import { ConnectionWindow, MAX_CONNECTION_WINDOW, ReceiveWindow } from './windows.ts';

const MIB = 1024 * 1024;
const AMPLE = 1024 * MIB;

describe('the window of a stream', () => {
  it('allows what the peer was given, and no byte more, whatever its target', () => {
    const step = fc.record({
      kind: fc.constantFrom('send', 'read'),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      target: fc.nat(200_000),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const window = new ReceiveWindow();
        let mayBeSent = FIRST_WINDOW;
        let waits = 0;
        let largest = FIRST_WINDOW;
        for (const { kind, part, target } of steps) {
          if (kind === 'send') {
            const bytes = Math.floor(part * mayBeSent);
            expect(window.receive(bytes)).toBe(true);
            mayBeSent -= bytes;
            waits += bytes;
          } else {
            const bytes = Math.floor(part * waits);
            const before = window.size;
            waits -= bytes;
            mayBeSent += window.read(bytes, target);
            largest = Math.max(largest, target);
            // It gets smaller only by what was read, and never below its target.
            expect(window.size).toBeGreaterThanOrEqual(Math.min(before, target));
          }
          expect(window.heldBytes).toBe(waits);
          // What waits aside, the peer has at least half of the window, so that it never stops for long.
          expect(mayBeSent).toBeGreaterThanOrEqual(
            (window.size - waits) / 2 - (kind === 'send' ? Infinity : 0),
          );
          expect(mayBeSent + waits).toBeLessThanOrEqual(window.size);
          expect(window.size).toBeLessThanOrEqual(largest);
        }
        expect(window.receive(mayBeSent + 1)).toBe(false);
      }),
    );
  });
});

/** A peer that sends bodies, and round trips of 100 ms. What has arrived is read at once, except a part that is held. */
class Peer {
  readonly window: ConnectionWindow;
  mayBeSent = FIRST_WINDOW;
  #given: number;
  held = 0;
  #nowMs = 0;
  /** The first round trip is that of the settings. */
  #isAsked = true;
  #missing: number | undefined = undefined;

  constructor(budget = new WindowBudget(AMPLE)) {
    this.window = new ConnectionWindow(budget, 0);
    this.#given = this.window.firstIncrement;
  }

  /** What arrives within one round trip. Returns how much it was. */
  round(bytes: number, held = 0): number {
    const sent = Math.min(bytes, this.mayBeSent);
    if (this.#isAsked && this.#nowMs > 0) {
      this.window.roundTripHasEnded(this.#nowMs);
      this.#given += this.window.read(0);
      this.#isAsked = false;
    }
    this.mayBeSent -= sent;
    for (let left = sent; left > 0; left -= 16_384) {
      const part = Math.min(left, 16_384);
      if (!this.window.receive(part)) throw new Error('the peer was allowed more');
      const kept = Math.min(part, Math.max(0, held - this.held));
      this.held += kept;
      if (this.#missing !== undefined) {
        this.#missing -= part;
        this.window.announce(-part);
      }
      this.#given += this.window.read(part - kept);
      if (this.window.startsRoundTrip(this.#missing, this.#nowMs)) this.#isAsked = true;
    }
    this.mayBeSent += this.#given;
    this.#given = 0;
    this.#nowMs += 100;
    return sent;
  }

  progress(bytes: number): number {
    const sent = this.round(bytes);
    if (sent + this.mayBeSent === 0) throw new Error('the peer waits forever');
    return sent;
  }

  /** Sends a body whose length is not announced. Returns how many round trips it takes. */
  upload(bytes: number): number {
    let rounds = 0;
    for (let left = bytes; left > 0; rounds += 1) left -= this.progress(left);
    this.window.isIdle();
    return rounds;
  }

  /** Sends a body whose length is announced. */
  announced(bytes: number): number {
    let rounds = 0;
    this.window.announce(bytes);
    this.#given += this.window.read(0);
    for (let left = bytes; left > 0; rounds += 1) {
      this.#missing = left;
      left -= this.progress(left);
    }
    this.#missing = undefined;
    this.window.isIdle();
    return rounds;
  }
}

describe('the window of a connection', () => {
  it('is as large as an announced body after one round trip', () => {
    expect(new Peer().announced(5_000_000)).toBe(2);
  });

  it('grows while it is used up within a round trip: a body of unknown length takes one more', () => {
    const peer = new Peer();
    expect(peer.upload(5_000_000)).toBe(3);
    expect(peer.window.size).toBe(MAX_CONNECTION_WINDOW);
  });

  it.each([
    ['the caller sends less than it may', 100_000, 0],
    ['readers leave it waiting', AMPLE, 700_000],
  ])('does not grow if %s', (_why, bytes, held) => {
    const peer = new Peer();
    peer.round(Math.min(bytes, 10_000));
    const { size } = peer.window;
    for (let round = 0; round < 50; round += 1) peer.round(bytes, held);
    expect(peer.window.size).toBe(size);
  });

  it('does not grow for a caller that is near: its window is no limit', () => {
    const window = new ConnectionWindow(new WindowBudget(AMPLE), 0);
    window.roundTripHasEnded(1);
    const { size } = window;
    let nowMs = 0;
    for (let round = 0; round < 50; round += 1) {
      window.receive(size / 2);
      window.read(size / 2);
      if (window.startsRoundTrip(undefined, nowMs)) {
        window.receive(size / 2);
        window.read(size / 2);
        nowMs += round === 0 ? 0.1 : 3;
        window.roundTripHasEnded(nowMs);
      }
    }
    expect(window.size).toBe(size);
  });

  it('returns to its first size by what is sent after it was idle, and gives the memory back', () => {
    const budget = new WindowBudget(AMPLE);
    const peer = new Peer(budget);
    const { size } = peer.window;
    const { left } = budget;
    peer.announced(5_000_000);
    expect([peer.window.size, budget.left]).toEqual([size, left]);
    peer.upload(6_000_000);
    expect(peer.window.size).toBeGreaterThan(size);
    for (let round = 0; round < 100; round += 1) {
      peer.round(100_000);
      peer.window.isIdle();
    }
    expect([peer.window.size, budget.left]).toEqual([size, left]);
  });

  it('leaves a quarter of itself to other streams, and allows a stream all of an announced body', () => {
    const { window } = new Peer();
    expect(window.firstOfStream).toBe(Math.floor(MIB * 0.75));
    expect(window.targetOfStream(undefined)).toBe(window.firstOfStream);
    window.announce(5_000_000);
    window.read(0);
    expect(window.size * 0.25).toBeGreaterThanOrEqual(MIB * 0.25);
    expect(window.targetOfStream(5_000_000)).toBe(5_000_000);
    expect(window.targetOfStream(100)).toBe(window.firstOfStream);
  });
});

describe('the memory of a process', () => {
  it('is what its windows are larger than the first size, never more than its bound, after any events', () => {
    const events = fc.record({
      peer: fc.nat(9),
      kind: fc.constantFrom('announce', 'send', 'hold', 'idle', 'close'),
      bytes: fc.integer({ min: 1, max: 12 * MIB }),
    });
    fc.assert(
      fc.property(fc.array(events, { maxLength: 60 }), fc.nat(32 * MIB), (steps, total) => {
        const budget = new WindowBudget(total);
        const peers = new Map<number, Peer>();
        for (const { peer: id, kind, bytes } of steps) {
          const peer = peers.get(id) ?? new Peer(budget);
          peers.set(id, peer);
          if (kind === 'announce' && peer.held === 0) peer.announced(bytes);
          if (kind === 'send') peer.round(bytes);
          if (kind === 'hold') peer.round(bytes, bytes >> 1);
          if (kind === 'idle') peer.window.isIdle();
          if (kind === 'close') {
            peer.window.close();
            // What is read afterwards changes nothing.
            peer.window.read(0);
            peers.delete(id);
          }
          const sizes = [...peers.values()].map(({ window }) => window.size);
          for (const size of sizes) {
            expect(size).toBeGreaterThanOrEqual(FIRST_WINDOW);
            expect(size).toBeLessThanOrEqual(MAX_CONNECTION_WINDOW);
          }
          const taken = sizes.reduce((sum, size) => sum + size - FIRST_WINDOW, 0);
          expect(budget.left).toBe(total - taken);
          expect(budget.left).toBeGreaterThanOrEqual(0);
        }
        for (const { window } of peers.values()) window.close();
        expect(budget.left).toBe(total);
      }),
      { numRuns: 200 },
    );
  });

  it('leaves half of itself to connections that use their windows up', () => {
    const budget = new WindowBudget(16 * MIB);
    const idle = Array.from({ length: 1000 }, () => new Peer(budget));
    expect(budget.left).toBeGreaterThanOrEqual(8 * MIB);
    const peer = new Peer(budget);
    peer.upload(5_000_000);
    expect(peer.window.size).toBeGreaterThan(MIB / 2);
    expect(idle.at(-1)?.window.size).toBeGreaterThanOrEqual(FIRST_WINDOW);
  });

  it('is shared when it is used up: windows stop growing, large ones get smaller, nothing fails', () => {
    const budget = new WindowBudget(4 * MIB);
    const peers = Array.from({ length: 40 }, () => new Peer(budget));
    for (let round = 0; round < 40; round += 1) {
      for (const peer of peers) expect(peer.round(AMPLE)).toBeGreaterThan(0);
    }
    const sizes = peers.map(({ window }) => window.size);
    expect(Math.max(...sizes)).toBeLessThan(FIRST_WINDOW + MIB / 2);
    expect(peers.at(-1)?.upload(MIB)).toBeLessThan(30);
  });
});
