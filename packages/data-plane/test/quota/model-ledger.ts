import type {
  LedgerEntry,
  LedgerKey,
  LedgerState,
  QuotaLedger,
  WriteResult,
} from '../../src/quota/ledger.ts';

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
  /** Every entry that was ever stored. */
  readonly written: LedgerEntry[] = [];
  readonly #entries = new Map<string, LedgerState>();
  #calls: Call[] = [];
  #late: Call[] = [];
  #revision = 0;
  #losses = 0;

  /** Loses the connections and all data. */
  loseAll(): void {
    this.#entries.clear();
    this.#revision = 0;
    this.#losses += 1;
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
    this.#late.push(...this.#calls.filter((call) => call.node === node));
    this.#calls = this.#calls.filter((call) => call.node !== node);
  }

  /** The connection of one node to the ledger. */
  from(node: number): QuotaLedger {
    const losses = () => this.#losses;
    return {
      reachable: true,
      get losses() {
        return losses();
      },
      read: (key) =>
        new Promise<LedgerState>((resolve, reject) => {
          const fail = () => reject(new Error('no answer'));
          this.#calls.push({
            node,
            apply: () => this.#state(key),
            answer: (result) => resolve(result as LedgerState),
            unanswered: fail,
            refuse: fail,
          });
        }),
      write: (key, entry, revision) =>
        new Promise<WriteResult>((resolve, reject) => {
          this.#calls.push({
            node,
            apply: () => this.#write(key, entry, revision),
            answer: (result) => resolve(result as WriteResult),
            unanswered: () => resolve({ kind: 'unknown' }),
            refuse: () => reject(new Error('the connection was lost')),
          });
        }),
    };
  }

  #state(key: LedgerKey): LedgerState {
    return this.#entries.get(key.hash) ?? { entry: undefined, revision: 0 };
  }

  #write(key: LedgerKey, entry: LedgerEntry, revision: number): WriteResult {
    if (this.#state(key).revision !== revision) return { kind: 'conflict' };
    this.#revision += 1;
    this.#entries.set(key.hash, { entry, revision: this.#revision });
    this.written.push(entry);
    return { kind: 'written', revision: this.#revision };
  }
}
