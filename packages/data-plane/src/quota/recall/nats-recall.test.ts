import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { QUOTA_RECALL_SUBJECT } from '@gateway/shared/messaging/names';
import { ensureTopology } from '@gateway/shared/messaging/topology';
import type { NatsConnection } from '@nats-io/nats-core';
import { captureLog } from '../../../test/captured-log.ts';
import { openOwnNats, type OwnNats } from '../../../test/own-nats.ts';
import { whenUp } from '../../nats/await-link.ts';
import { linkNats, type NatsLink } from '../../nats/nats-link.ts';
import { join, NO_FLEET } from '../fleet/fleet.ts';
import { KvFleetStore } from '../fleet/kv-fleet-store.ts';
import { answerRecalls, recallOverNats } from './nats-recall.ts';

const TOPOLOGY = { replicas: 1, maxRecordStreamBytes: 16 * 1024 * 1024 };
const key = { hash: 'a'.repeat(64), windowMs: 60_000 };
const recalled = { key, window: 7, limit: 100, wanted: 5 };

let nats: OwnNats;
let url: string;
let connection: NatsConnection;

async function open(): Promise<NatsLink> {
  const link = linkNats(nats.connect(url), captureLog().log);
  await whenUp(link, new AbortController().signal);
  return link;
}
beforeEach(async () => {
  nats = await openOwnNats();
  ({ url } = await nats.startServer());
  connection = await nats.connect(url);
});
afterEach(() => nats.close());

describe('a recall over NATS', () => {
  it('returns what each of the others has released, without the one that asks', async () => {
    const asked: unknown[] = [];
    for (const slot of [1, 2, 3]) {
      answerRecalls(await open(), {
        slot: () => slot,
        release(recalled) {
          asked.push([slot, recalled]);
          return { keeps: slot, writes: 1, gives: 2 * slot, former_before_ms: 10 * slot };
        },
      });
    }
    const link = await open();
    answerRecalls(link, { slot: () => 9, release: () => ({ keeps: 9, writes: 9, gives: 9 }) });
    await connection.flush();
    const answers = await recallOverNats(link, () => 9)({ ...recalled, from: [1, 2, 3] });
    const given = [1, 2, 3].map((slot) => ({
      format: 1,
      slot,
      keeps: slot,
      writes: 1,
      gives: 2 * slot,
      former_before_ms: 10 * slot,
    }));
    expect(answers.toSorted((a, b) => a.slot - b.slot)).toEqual(given);
    expect(asked).toHaveLength(3);
    expect(asked).toContainEqual([2, recalled]);
  });

  it('ends soon if somebody does not answer, gives nothing up, or answers what is no answer', async () => {
    answerRecalls(await open(), { slot: () => 1, release: () => undefined });
    answerRecalls(await open(), {
      slot: () => 2,
      release: () => ({ keeps: 0, writes: 0, gives: 0 }),
    });
    connection.subscribe(QUOTA_RECALL_SUBJECT, {
      callback: (_error, message) => void message.respond('{"slot":3'),
    });
    await connection.flush();
    const link = await open();
    const answers = await recallOverNats(link, () => 9)({ ...recalled, from: [1, 2, 3, 4] });
    expect(answers.map(({ slot }) => slot)).toEqual([2]);
  });

  it('asks nobody if there is nobody, and ignores what is no question', async () => {
    const link = await open();
    let asked = 0;
    answerRecalls(await open(), { slot: () => 1, release: () => void (asked += 1) });
    connection.publish(QUOTA_RECALL_SUBJECT, '{"hash":1}');
    connection.publish(QUOTA_RECALL_SUBJECT, 'none');
    await connection.flush();
    expect(await recallOverNats(link, () => 9)({ ...recalled, from: [] })).toEqual([]);
    expect(asked).toBe(0);
  });
});

describe('the fleet in NATS', () => {
  it('is stored over the named revision only', async () => {
    await ensureTopology(connection, TOPOLOGY);
    const store = new KvFleetStore(await open(), systemClock);
    expect(await store.read()).toEqual({ fleet: undefined, revision: 0 });
    const fleet = join(NO_FLEET, 'a');
    const written = await store.write(fleet, 0);
    if (written.kind !== 'written') throw new Error(written.kind);
    expect(await store.read()).toEqual({ fleet, revision: written.revision });
    expect(await store.write(fleet, 0)).toEqual({ kind: 'conflict' });
  });

  it('cannot be read without its bucket, or when NATS is away', async () => {
    const store = new KvFleetStore(await open(), systemClock);
    await expect(store.read()).rejects.toThrow();
  });
});
