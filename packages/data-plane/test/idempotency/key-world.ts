import { randomBytes } from 'node:crypto';
import type { MasterKey } from '@gateway/shared/config/master-keys';
import { systemRandom } from '@gateway/shared/ids';
import { manualClock, type ManualClock } from '@gateway/shared/test/manual-clock';
import { captureLog } from '../captured-log.ts';
import type { Claim } from '../../src/idempotency/claim.ts';
import {
  StoredIdempotencyKeys,
  type KeyedRequest,
  type KeyOutcome,
} from '../../src/idempotency/keys.ts';
import type { StoredResponse } from '../../src/idempotency/store/response-vault.ts';
import { ResponseVault } from '../../src/idempotency/store/response-vault.ts';
import { FaultyIdempotencyStore } from './faulty-store.ts';
import { MemoryIdempotencyStore } from './memory-store.ts';
import { newName } from './store-contract.ts';

/** The keys of one data plane, with a store that the test may let fail. */
export interface KeyNode {
  readonly keys: StoredIdempotencyKeys;
  readonly store: FaultyIdempotencyStore;
  /** The counts of its metrics, by name. */
  readonly counted: Map<string, number>;
  begin(fields?: Partial<KeyedRequest>): Promise<KeyOutcome>;
  /** Begins a request that must run. */
  run(fields?: Partial<KeyedRequest>): Promise<Claim>;
  /** Kills it: its calls do not reach the store any more. */
  die(): void;
}

/** Data planes with a common store, and a common clock that the test advances. */
export interface KeyWorld {
  readonly clock: ManualClock;
  readonly memory: MemoryIdempotencyStore;
  readonly name: string;
  node(options?: NodeOptions): KeyNode;
  /** Advances the clock in steps, so that everything happens at its time. */
  pass(ms: number): Promise<void>;
}

interface NodeOptions {
  readonly masterKeys?: readonly MasterKey[];
  readonly maxWaiting?: number;
}

const STEP_MS = 25;

export function newMasterKey(id = 'k1'): MasterKey {
  return { id, bytes: new Uint8Array(randomBytes(32)) };
}

export function responseOf(
  body: string | undefined,
  fields: readonly string[] = [],
  status = 201,
): StoredResponse {
  const bytes = body === undefined ? undefined : Buffer.from(body, 'latin1');
  return { status, statusText: 'Made', fields, body: bytes };
}

export function createKeyWorld(maxValueBytes?: number): KeyWorld {
  const clock = manualClock();
  const memory = new MemoryIdempotencyStore(maxValueBytes);
  const name = newName();
  const sharedKey = newMasterKey();
  let requests = 0;

  function node({ masterKeys = [sharedKey], maxWaiting = 100 }: NodeOptions = {}): KeyNode {
    const store = new FaultyIdempotencyStore(memory);
    const counted = new Map<string, number>();
    const count = (what: string) => void counted.set(what, (counted.get(what) ?? 0) + 1);
    const keys = new StoredIdempotencyKeys({
      store,
      vault: new ResponseVault(masterKeys, systemRandom),
      clock,
      sharedNowMs: () => clock.nowMs(),
      random: systemRandom,
      log: captureLog().log,
      metrics: {
        result: count,
        ended: count,
        dropped: () => count('dropped'),
        waiterRefused: () => count('waiter_refused'),
        claimAbandoned: () => count('claim_abandoned'),
      },
      maxWaiting,
    });
    const begin: KeyNode['begin'] = (fields = {}) => {
      requests += 1;
      return keys.begin({
        name,
        owner: { key: 'production/orders' },
        fingerprint: 'a'.repeat(64),
        requestId: `req_${requests}`,
        onUnknown: 'refuse',
        deadlineMs: clock.monotonicMs() + 10_000,
        hasLeft: () => false,
        whenLeft: () => undefined,
        ...fields,
      });
    };
    return {
      keys,
      store,
      counted,
      begin,
      async run(fields) {
        const outcome = await begin(fields);
        if (outcome.kind !== 'run') throw new Error(`did not run: ${outcome.kind}`);
        return outcome.claim;
      },
      die: () => void (store.fault = () => 'refused'),
    };
  }

  return {
    clock,
    memory,
    name,
    node,
    async pass(ms) {
      for (let left = ms; left > 0; left -= STEP_MS) {
        clock.advance(Math.min(left, STEP_MS));
        await settled();
      }
      await settled();
    },
  };
}

/** Resolves when all pending promises have continued. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
