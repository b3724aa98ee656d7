import { runAtOnce, runPaced, type Pace } from '@gateway/shared/pace';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { NO_KEYS, type CredentialOpener } from './compile-credential.ts';
import { EnvironmentEditor, type TableChange } from './environment-editor.ts';
import { KeySetUses } from './key-set-uses.ts';
import {
  EMPTY_TABLE,
  upstreamsOf,
  withEnvironment,
  type EnvironmentTable,
  type RoutingTable,
} from './routing-table.ts';

/** Holds the table that requests read. A new one takes its place by one assignment. */
export class TableHolder {
  #current: RoutingTable = EMPTY_TABLE;
  #keySets = new KeySetUses();
  readonly #editors = new Map<string, EnvironmentEditor>();
  readonly #opener: CredentialOpener;

  /** @param opener of the services' credentials; without it none can be used */
  constructor(opener: CredentialOpener = NO_KEYS) {
    this.#opener = opener;
  }

  get current(): RoutingTable {
    return this.#current;
  }

  /** The keys of every upstream that the current table names. */
  get upstreamKeys(): { has(key: string): boolean } {
    return upstreamsOf(this.#current);
  }

  /** Where the keys are that the callers of the current table's routes are verified with. */
  get keySetUrls(): ReadonlySet<string> {
    return this.#keySets.urls;
  }

  /**
   * Takes the configuration of one environment as a whole.
   *
   * @throws Error where it does not compile; the table stays as it was
   */
  apply(snapshot: Snapshot): void {
    this.#use(runAtOnce(this.#load(snapshot)));
  }

  /**
   * As `apply`, with a turn for others in between. One environment is loaded by one caller at a time.
   */
  async load(snapshot: Snapshot, pace: Pace): Promise<void> {
    this.#use(await runPaced(this.#load(snapshot), pace));
  }

  /**
   * Takes what has changed of an environment that was taken before.
   *
   * @returns in what the table differs from the one before
   * @throws Error where it does not lead on from what is there; the table stays as it was
   */
  change(delta: Delta): TableChange & { readonly keySetsChanged: boolean } {
    const editor = this.#editors.get(delta.environment);
    if (editor?.table.version !== delta.from) throw new Error('the delta is of another version');
    const change = editor.apply(delta);
    this.#current = withEnvironment(this.#current, change.table);
    let keySetsChanged = false;
    for (const { before, after } of change.routes) {
      if (this.#keySets.replace(before, after)) keySetsChanged = true;
    }
    return { ...change, keySetsChanged };
  }

  #load(snapshot: Snapshot) {
    const before = this.#current.environments.get(snapshot.environment);
    return EnvironmentEditor.load(snapshot, before, this.#opener);
  }

  #use(editor: EnvironmentEditor): void {
    const { table } = editor;
    this.#editors.set(table.name, editor);
    this.#current = withEnvironment(this.#current, table);
    this.#keySets = usesOf(this.#current.environments.values());
  }
}

function usesOf(environments: Iterable<EnvironmentTable>): KeySetUses {
  const uses = new KeySetUses();
  for (const { routes } of environments) {
    for (const route of routes.values()) uses.replace(undefined, route);
  }
  return uses;
}
