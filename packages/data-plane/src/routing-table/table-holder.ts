import { runAtOnce, runPaced, type Pace } from '@gateway/shared/pace';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import type { ReadSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import { NO_KEYS, type CredentialOpener } from './compile-credential.ts';
import { EnvironmentEditor, type TableChange } from './environment-editor.ts';
import { KeySetUses } from './key-set-uses.ts';
import {
  EMPTY_TABLE,
  routesOf,
  upstreamsOf,
  withEnvironment,
  type EnvironmentTable,
  type RoutingTable,
} from './routing-table.ts';

/** Holds the current routing table. A new table replaces it by one assignment. */
export class TableHolder {
  #current: RoutingTable = EMPTY_TABLE;
  #keySets = new KeySetUses();
  readonly #editors = new Map<string, EnvironmentEditor>();
  readonly #opener: CredentialOpener;

  /** @param opener decrypts the services' credentials; without it no credential is usable */
  constructor(opener: CredentialOpener = NO_KEYS) {
    this.#opener = opener;
  }

  get current(): RoutingTable {
    return this.#current;
  }

  /** The keys of all upstreams of the current table. */
  get upstreamKeys(): { has(key: string): boolean } {
    return upstreamsOf(this.#current);
  }

  /** The URLs of the key sets that the routes of the current table verify callers with. */
  get keySetUrls(): ReadonlySet<string> {
    return this.#keySets.urls;
  }

  /** Replaces the configuration of one environment. */
  apply(snapshot: ReadSnapshot): void {
    this.#use(runAtOnce(this.#load(snapshot)));
  }

  /**
   * Like `apply`, but yields to other work in between. Only one load per environment at a time is allowed.
   */
  async load(snapshot: ReadSnapshot, pace: Pace): Promise<void> {
    this.#use(await runPaced(this.#load(snapshot), pace));
  }

  /**
   * Applies a delta to an environment that is loaded.
   *
   * @returns how the table differs from the previous one
   * @throws Error if the delta does not follow the loaded version; the table then stays unchanged
   */
  change(delta: Delta): TableChange & { readonly keySetsChanged: boolean } {
    const editor = this.#editors.get(delta.environment);
    if (editor?.table.version !== delta.from) throw new Error('the delta is for another version');
    const change = editor.apply(delta);
    this.#current = withEnvironment(this.#current, change.table);
    let keySetsChanged = false;
    for (const { before, after } of change.routes) {
      if (this.#keySets.replace(before, after)) keySetsChanged = true;
    }
    return { ...change, keySetsChanged };
  }

  #load(snapshot: ReadSnapshot) {
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
  for (const environment of environments) {
    for (const route of routesOf(environment)) uses.replace(undefined, route);
  }
  return uses;
}
