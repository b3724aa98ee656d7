import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { VersionChain, type ChainDelta, type ChainSnapshot } from './version-chain.ts';

type Chain = VersionChain<ChainDelta, ChainSnapshot>;
type Message =
  | { readonly delta: ChainDelta }
  | { readonly snapshot: ChainSnapshot }
  | { readonly announced: number };

const delta = (from: number, version = from + 1): ChainDelta => ({
  from,
  version,
  bytes: 1,
  entryId: `entry-${version}`,
});
const snapshot = (version: number, repeats = false): ChainSnapshot => ({
  version,
  sha256: `snapshot-${version}-${repeats}`,
  entryId: repeats ? `entry-${version}` : undefined,
});

function offer(chain: Chain, message: Message): void {
  if ('delta' in message) chain.offerDelta(message.delta);
  else if ('snapshot' in message) chain.offerSnapshot(message.snapshot);
  else chain.announce(message.announced);
}

function versionOf(message: Message): number {
  if ('announced' in message) return message.announced;
  return ('delta' in message ? message.delta : message.snapshot).version;
}

/** Does what the chain says until it rests, asks or waits; gives the versions that were served. */
function run(chain: Chain, waited: boolean): { served: number[]; end: string } {
  const served: number[] = [];
  for (;;) {
    const step = chain.next(waited);
    if (step.do === 'apply') {
      expect(step.delta.from).toBe(chain.version);
      chain.serve(step.delta);
    } else if (step.do === 'load') {
      expect(step.snapshot.version).toBeGreaterThan(chain.version);
      chain.serve(step.snapshot);
    } else return { served, end: step.do };
    served.push(chain.version);
  }
}

/** A line of versions: each made by a delta or a snapshot, and some of them repeated by a snapshot. */
const history = fc
  .array(fc.record({ bySnapshot: fc.nat(4), repeated: fc.boolean(), skips: fc.nat(2) }), {
    minLength: 1,
    maxLength: 25,
  })
  .map((made) => {
    const messages: Message[] = [];
    let version = 0;
    for (const { bySnapshot, repeated, skips } of made) {
      const from = version;
      version += 1 + skips;
      if (from === 0 || bySnapshot === 0) {
        messages.push({ snapshot: snapshot(version) }, { announced: version });
      } else {
        messages.push({ delta: delta(from, version) });
        if (repeated) messages.push({ snapshot: snapshot(version, true) });
      }
    }
    return { messages, newest: version };
  });

/** Any of them, any number of times, in any order. */
const told = history.chain(({ messages, newest }) =>
  fc.record({
    newest: fc.constant(newest),
    messages: fc.constant(messages),
    came: fc.array(fc.constantFrom(...messages), { maxLength: 60 }),
    pauses: fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }),
  }),
);

describe('the chain of versions', () => {
  it('ends at the newest version that arrived, or asks for a snapshot, whatever was lost, repeated or late', () => {
    fc.assert(
      fc.property(told, ({ came, pauses }) => {
        const chain: Chain = new VersionChain();
        const served: number[] = [];
        came.forEach((message, at) => {
          offer(chain, message);
          served.push(...run(chain, pauses[at] === true).served);
        });
        const end = run(chain, true);
        served.push(...end.served);
        expect(served).toEqual(served.toSorted((a, b) => a - b));
        const newest = Math.max(0, ...came.map(versionOf));
        expect(end.end).toBe(chain.version === newest ? 'rest' : 'ask');
        expect(chain.isBehind).toBe(chain.version !== newest);
      }),
      { numRuns: 1000 },
    );
  });

  it('reaches the newest version once the requested snapshot arrives', () => {
    fc.assert(
      fc.property(told, ({ came, newest }) => {
        const chain: Chain = new VersionChain();
        for (const message of came) {
          offer(chain, message);
          run(chain, false);
        }
        if (run(chain, true).end === 'rest') return;
        offer(chain, { snapshot: snapshot(newest, true) });
        expect(run(chain, true).end).toBe('rest');
        expect(chain.version).toBe(newest);
      }),
    );
  });

  it('refuses a pointer that is older than one before it, or names other content for the served version', () => {
    const chain: Chain = new VersionChain();
    expect(chain.offerSnapshot(snapshot(5))).toBeUndefined();
    expect(chain.offerSnapshot(snapshot(4))).toBe('version 4 after 5');
    run(chain, false);
    expect(chain.offerSnapshot({ ...snapshot(5), sha256: 'other' })).toBe('version 5 after 5');
    expect(chain.offerSnapshot(snapshot(5))).toBeUndefined();
    // Deltas may be ahead of the pointer, which then moves up behind them.
    chain.offerDelta(delta(5));
    chain.offerDelta(delta(6));
    run(chain, false);
    expect(chain.offerSnapshot(snapshot(6, true))).toBeUndefined();
    expect(chain.version).toBe(7);
  });

  it('asks for the snapshot of an announced version if its pointer does not arrive', () => {
    const chain: Chain = new VersionChain();
    chain.announce(3);
    expect(chain.next(false)).toEqual({ do: 'wait', then: 'ask' });
    expect(chain.next(true)).toEqual({ do: 'ask' });
    chain.offerSnapshot(snapshot(3));
    expect(run(chain, false)).toEqual({ served: [3], end: 'rest' });
  });

  it('prefers deltas to a snapshot that repeats them, and waits only if they may arrive', () => {
    const chain: Chain = new VersionChain();
    chain.offerSnapshot(snapshot(5));
    run(chain, false);
    chain.offerSnapshot(snapshot(7, true));
    expect(chain.next(false)).toEqual({ do: 'wait', then: 'load' });
    chain.offerDelta(delta(6));
    expect(chain.next(false)).toEqual({ do: 'wait', then: 'load' });
    chain.offerDelta(delta(5));
    expect(run(chain, false)).toEqual({ served: [6, 7], end: 'rest' });
  });

  it('loads at once a snapshot that no delta leads to, and the first snapshot', () => {
    const chain: Chain = new VersionChain();
    chain.offerDelta(delta(5));
    expect(chain.next(false)).toEqual({ do: 'wait', then: 'ask' });
    chain.offerSnapshot(snapshot(5, true));
    expect(run(chain, false)).toEqual({ served: [5, 6], end: 'rest' });
    chain.offerDelta(delta(6));
    chain.offerSnapshot(snapshot(9));
    expect(run(chain, false).served).toEqual([9]);
  });

  it('needs a snapshot after a refused delta', () => {
    const chain: Chain = new VersionChain();
    chain.offerSnapshot(snapshot(1));
    run(chain, false);
    chain.offerDelta(delta(1));
    const step = chain.next(false);
    if (step.do !== 'apply') throw new Error('the delta leads on');
    chain.refuse(step.delta);
    chain.offerDelta(delta(2));
    expect(run(chain, true)).toEqual({ served: [], end: 'ask' });
    chain.offerSnapshot(snapshot(2, true));
    expect(run(chain, true)).toEqual({ served: [2, 3], end: 'rest' });
  });

  it('forgets deltas beyond its bound, and asks for a snapshot instead', () => {
    const chain: Chain = new VersionChain();
    chain.offerSnapshot(snapshot(1));
    run(chain, false);
    for (let from = 2; from < 60; from += 1) {
      chain.offerDelta({ ...delta(from), bytes: 1024 * 1024 });
    }
    expect(chain.next(true)).toEqual({ do: 'ask' });
    chain.offerSnapshot(snapshot(55, true));
    expect(run(chain, true).served[0]).toBe(55);
    expect(chain.version).toBe(60);
  });
});
