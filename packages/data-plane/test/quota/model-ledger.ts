import type { BucketBound } from '../../src/nats/bucket-bounds.ts';
import type { WriteResult } from '../../src/nats/kv-write.ts';
import { NO_FLEET, type Fleet } from '../../src/quota/fleet/fleet.ts';
import type { FleetStore } from '../../src/quota/fleet/stored-fleet.ts';
import type { Recall, RecallAnswer } from '../../src/quota/recall/recall.ts';
import type {
  LedgerEntry,
  LedgerKey,
  LedgerState,
  QuotaLedger,
} from '../../src/quota/ledger/ledger.ts';

/** What happens to a call, and to its answer. */
export type Fate =
  | 'answered'
  /** It is applied, and the answer is lost. */
  | 'reply_lost'
  /** It never arrives. */
  | 'lost'
  /** It is not answered, and arrives later. */
  | 'late'
  /** The connection is lost before it arrives. */
  | 'refused';

interface Call {
  readonly node: number;
  readonly apply: () => unknown;
  readonly answer: (result: unknown) => void;
  readonly unanswered: () => void;
  readonly refuse: () => void;
}

/** A ledger in memory. The test decides in which order the calls arrive, and what happens to each. */
export class ModelLedger {
  /** Whether new entries are refused. Those that it has are written. */
  full = false;
  /** Every entry that was ever stored. */
  readonly written: LedgerEntry[] = [];
  readonly #entries = new Map<string, LedgerState>();
  readonly #away = new Set<number>();
  readonly #dead = new Set<number>();
  readonly #losses = new Map<number, number>();
  #calls: Call[] = [];
  #late: Call[] = [];
  #revision = 0;
  #dataLosses = 0;
  #fleet: { readonly fleet: Fleet | undefined; readonly revision: number } = {
    fleet: undefined,
    revision: 0,
  };

  /** Loses the connections and all data. */
  loseAll(): void {
    this.#entries.clear();
    this.#revision = 0;
    this.#fleet = { fleet: undefined, revision: 0 };
    this.#dataLosses += 1;
  }

  /** The fleet at the begin. */
  startWith(members: Fleet['members']): void {
    this.#fleet = { fleet: { ...NO_FLEET, members, next_slot: members.length }, revision: 1 };
    this.#revision = 1;
  }

  get fleet(): Fleet {
    return this.#fleet.fleet ?? NO_FLEET;
  }

  /** The node loses its connection; its pending calls may still arrive. */
  cutOff(node: number): void {
    this.#away.add(node);
    this.#losses.set(node, (this.#losses.get(node) ?? 0) + 1);
    const cut = this.#calls.filter((call) => call.node === node);
    this.#calls = this.#calls.filter((call) => call.node !== node);
    this.#late.push(...cut);
    for (const call of cut) call.refuse();
  }

  reconnect(node: number): void {
    this.#away.delete(node);
  }

  isAway(node: number): boolean {
    return this.#away.has(node);
  }

  get pending(): number {
    return this.#calls.length;
  }

  /** Settles one of the pending calls. */
  settle(index: number, fate: Fate): void {
    const call = this.#calls[index % this.#calls.length];
    if (call === undefined) return;
    this.#calls = this.#calls.filter((other) => other !== call);
    if (fate === 'answered') call.answer(call.apply());
    else if (fate === 'refused') call.refuse();
    else {
      if (fate === 'reply_lost') call.apply();
      if (fate === 'late') this.#late.push(call);
      call.unanswered();
    }
  }

  /** Lets the late calls arrive. */
  arriveLate(): void {
    for (const call of this.#late.splice(0)) call.apply();
  }

  /** The node is dead: its pending calls may still arrive, and it gets no answer. */
  kill(node: number): void {
    this.#dead.add(node);
    this.#late.push(...this.#calls.filter((call) => call.node === node));
    this.#calls = this.#calls.filter((call) => call.node !== node);
  }

  /** The connection of one node to the ledger. */
  from(node: number): QuotaLedger {
    const losses = () => this.#dataLosses + (this.#losses.get(node) ?? 0);
    const reachable = () => !this.#away.has(node);
    return {
      get reachable() {
        return reachable();
      },
      get losses() {
        return losses();
      },
      boundOf: () => this.#boundNow(),
      forget: () => undefined,
      read: (key) => this.#read(node, () => this.#state(key)),
      write: (key, entry, revision) => this.#stored(node, () => this.#write(key, entry, revision)),
    };
  }

  /** The connection of one node to the stored fleet. */
  fleetFrom(node: number): FleetStore {
    const reachable = () => !this.#away.has(node);
    return {
      get reachable() {
        return reachable();
      },
      read: () => this.#read(node, () => this.#fleet),
      write: (fleet, revision) =>
        this.#stored(node, () => {
          if (this.#fleet.revision !== revision) return { kind: 'conflict' };
          this.#revision += 1;
          this.#fleet = { fleet, revision: this.#revision };
          return { kind: 'written', revision: this.#revision };
        }),
    };
  }

  /** @param others what each connected node with one of these slots answers to the node */
  recallFrom(
    node: number,
    others: (...question: Parameters<Recall>) => readonly RecallAnswer[],
  ): Recall {
    return (question) =>
      new Promise((resolve) => {
        const none = () => resolve([]);
        this.#send({
          node,
          apply: () => others(question),
          answer: (result) => resolve(result as readonly RecallAnswer[]),
          unanswered: none,
          refuse: none,
        });
      });
  }

  #read<T>(node: number, apply: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = () => reject(new Error('no answer'));
      const answer = (result: unknown) => resolve(result as T);
      if (this.#away.has(node)) fail();
      else this.#send({ node, apply, answer, unanswered: fail, refuse: fail });
    });
  }

  #stored(node: number, apply: () => WriteResult): Promise<WriteResult> {
    return new Promise((resolve, reject) => {
      const answer = (result: unknown) => resolve(result as WriteResult);
      const unanswered = () => resolve({ kind: 'unknown' });
      const refuse = () => reject(new Error('the connection was lost'));
      if (this.#away.has(node)) refuse();
      else this.#send({ node, apply, answer, unanswered, refuse });
    });
  }

  /** A dead process sends nothing, although its timers still run here. */
  #send(call: Call): void {
    if (!this.#dead.has(call.node)) this.#calls.push(call);
  }

  #state(key: LedgerKey): LedgerState {
    return this.#entries.get(key.hash) ?? { entry: undefined, revision: 0 };
  }

  #boundNow(): BucketBound | undefined {
    return this.full ? 'bucket' : undefined;
  }

  #write(key: LedgerKey, entry: LedgerEntry, revision: number): WriteResult {
    const bound = this.#boundNow();
    if (revision === 0 && bound !== undefined) return { kind: 'full', bound };
    if (this.#state(key).revision !== revision) return { kind: 'conflict' };
    this.#revision += 1;
    this.#entries.set(key.hash, { entry, revision: this.#revision });
    this.written.push(entry);
    return { kind: 'written', revision: this.#revision };
  }
}
