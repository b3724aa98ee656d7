import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import fc from 'fast-check';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { sealSnapshot, type SealedSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import { sealLogEntry } from '@gateway/shared/snapshot/signed-log-entry';
import { createConfigMetrics } from './config-metrics.ts';
import { EnvironmentFeed } from './environment-feed.ts';
import { captureLog } from '../../test/captured-log.ts';
import {
  deltaOf,
  newKey,
  sealRepeated,
  snapshotEntryOf,
  snapshotOf,
} from '@gateway/shared/test/config-publisher';

const OLDEST = 2;
const NEWEST = 11;
const ENVIRONMENT = 'production';
const key = newKey();

/** What tells of a version: the pointer of a snapshot, or an entry of the log. */
type Message = { readonly version: number } & (
  | { readonly pointer: string }
  | { readonly entry: Uint8Array }
);

/** A version as control planes publish it, by a snapshot or by a delta. */
interface Made {
  readonly bySnapshot: readonly Message[];
  readonly byDelta: Message;
  /** By a snapshot of what the delta made. */
  readonly repeated: Message;
}

const objects = new Map<string, Uint8Array>();

function pointTo(version: number, { pointer, bytes }: SealedSnapshot) {
  objects.set(pointer.object, bytes);
  return { version, pointer: JSON.stringify(pointer) };
}

async function make(version: number): Promise<Made> {
  const snapshot = snapshotOf(ENVIRONMENT, version);
  const sealed = await sealSnapshot(snapshot, `own-${version}`, [key]);
  const own = pointTo(version, sealed);
  const logged = snapshotEntryOf(sealed.pointer);
  const entry = sealLogEntry(deltaOf(ENVIRONMENT, version - 1), [key]);
  return {
    bySnapshot: [own, { version, entry: sealLogEntry(logged, [key]) }],
    byDelta: { version, entry },
    repeated: pointTo(version, await sealRepeated(entry, ENVIRONMENT, [key])),
  };
}

/** Of a line of versions some messages, in any order, any number of times, with pauses in between. */
function toldOf(made: readonly Made[]) {
  return fc.array(fc.nat(3), { minLength: made.length, maxLength: made.length }).chain((kinds) => {
    const line = made.map(({ bySnapshot, byDelta, repeated }, at) =>
      at === 0 || kinds[at] === 0 ? bySnapshot : [byDelta, repeated],
    );
    const step = fc.record({ message: fc.constantFrom(...line.flat()), pause: fc.nat(2) });
    return fc.record({
      steps: fc.array(step, { minLength: 1, maxLength: 40 }),
      // The newest as a snapshot, as a control plane makes one for who asks.
      answer: fc.constant(line.at(-1)?.find((one) => 'pointer' in one)),
      failing: fc.uniqueArray(fc.nat(15)),
    });
  });
}

/** An feed whose fetches fail where `failing` has their number, and what it served one after the other. */
function setUp(failing: readonly number[], onServed: (version: number) => void = () => undefined) {
  const clock = manualClock();
  const state = { served: 0, asked: 0, fetches: 0, forward: true };
  const serve = (version: number, fits: boolean) => {
    state.forward &&= fits && version > state.served;
    state.served = version;
    onServed(version);
  };
  const feed = new EnvironmentFeed({
    environment: ENVIRONMENT,
    keys: [key],
    clock,
    random: () => 0,
    log: captureLog().log,
    metrics: createConfigMetrics(new Registry(), () => true),
    readObject(object) {
      const bytes = failing.includes((state.fetches += 1)) ? undefined : objects.get(object);
      return bytes ? Promise.resolve(bytes) : Promise.reject(new Error('not available now'));
    },
    sink: {
      apply: ({ version }) => serve(version, true),
      applyDelta: ({ from, version }) => serve(version, from === state.served),
    },
    lastGood: { snapshot: () => undefined, delta: () => undefined, isLong: () => false },
    requestSnapshot: () => void (state.asked += 1),
  });
  const offer = (message: Message) =>
    'pointer' in message ? feed.offerPointer(message.pointer) : feed.offerEntry(message.entry);
  return { clock, state, feed, offer };
}

describe('the feed of an environment', () => {
  it('serves a delta that arrives at any moment after another version is served', async () => {
    const [first, second] = [await make(OLDEST), await make(OLDEST + 1)];
    for (let turns = 0; turns < 20; turns += 1) {
      const later = async () => {
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        offer(second.byDelta);
      };
      const { feed, state, offer } = setUp([], (version) => {
        if (version === OLDEST) void later();
      });
      for (const message of first.bySnapshot) offer(message);
      await eventually(() =>
        expect({ turns, served: state.served }).toEqual({ turns, served: OLDEST + 1 }),
      );
      await feed.stop();
    }
  });

  it('gives up a missing snapshot for a newer one that arrives at any moment of a back-off', async () => {
    const { pointer } = await sealSnapshot(snapshotOf(ENVIRONMENT, OLDEST), 'gone', [key]);
    const gone = { version: OLDEST, pointer: JSON.stringify(pointer) };
    const next = await make(OLDEST + 1);
    for (let turns = 0; turns < 20; turns += 1) {
      const { feed, state, offer, clock } = setUp([]);
      offer(gone);
      await eventually(() => expect(feed.error).toContain('not available'));
      clock.advance(100);
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      for (const message of next.bySnapshot) offer(message);
      // No time passes: it is the news that ends the back-off.
      await eventually(() =>
        expect({ turns, served: state.served }).toEqual({ turns, served: OLDEST + 1 }),
      );
      await feed.stop();
    }
  });

  it('ends at the newest version or requests a snapshot, whatever was lost, late or repeated', async () => {
    const made: Made[] = [];
    for (let version = OLDEST; version <= NEWEST; version += 1) made.push(await make(version));
    const run = async ({ steps, answer, failing }: Told) => {
      const { clock, state, feed, offer } = setUp(failing);
      const until = (isSo: () => boolean) =>
        eventually(
          () => {
            if (isSo()) return;
            clock.advance(250);
            throw new Error(`at ${state.served}, asked ${state.asked} times: ${feed.error}`);
          },
          { intervalMs: 0 },
        );
      for (const { message, pause } of steps) {
        offer(message);
        for (let turn = 0; turn < pause; turn += 1) {
          clock.advance(150);
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
      const newest = Math.max(...steps.map(({ message }) => message.version));
      const { asked } = state;
      await until(() => state.served === newest || state.asked > asked);
      if (answer === undefined) throw new Error('the newest version is there as a snapshot');
      offer(answer);
      await until(() => state.served === NEWEST && feed.error === undefined);
      expect(feed.served?.version).toBe(NEWEST);
      expect(state.forward).toBe(true);
      await feed.stop();
    };
    await fc.assert(fc.asyncProperty(toldOf(made), run), { numRuns: 200, endOnFailure: true });
  });
});

type Told = ReturnType<typeof toldOf> extends fc.Arbitrary<infer T> ? T : never;
