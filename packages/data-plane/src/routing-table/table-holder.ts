import { runPaced, type Pace } from '@gateway/shared/pace';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import type { ReadSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import type { CredentialOpener } from './compile-credential.ts';
import { EnvironmentEditor, type TableChange } from './environment-editor.ts';
import {
  EMPTY_TABLE,
  routesOf,
  upstreamsOf,
  withEnvironment,
  type EnvironmentTable,
  type RouteEntry,
  type RoutingTable,
} from './routing-table.ts';

/** Holds the current routing table. A new table replaces it by one assignment. */
export class TableHolder {
  /** Assigned only here. */
  current: RoutingTable = EMPTY_TABLE;
  #keySets = new KeySetUses();
  readonly #editors = new Map<string, EnvironmentEditor>();
  readonly #opener: CredentialOpener;

  /** @param opener decrypts the services' credentials */
  constructor(opener: CredentialOpener) {
    this.#opener = opener;
  }

  /** The keys of all upstreams of the current table. */
  get upstreamKeys(): { has(key: string): boolean } {
    return upstreamsOf(this.current);
  }

  /** The URLs of the key sets that the routes of the current table verify callers with. */
  get keySetUrls(): ReadonlySet<string> {
    return this.#keySets.urls;
  }

  /** Replaces the configuration of one environment; yields to other work in between. Only one load at a time is allowed. */
  async load(snapshot: ReadSnapshot, pace: Pace): Promise<void> {
    const before = this.current.environments.get(snapshot.environment);
    const loading = EnvironmentEditor.load(snapshot, before, this.#opener);
    const editor = await runPaced(loading, pace);
    this.#editors.set(editor.table.name, editor);
    this.current = withEnvironment(this.current, editor.table);
    this.#keySets = usesOf(this.current.environments.values());
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
    this.current = withEnvironment(this.current, change.table);
    let keySetsChanged = false;
    for (const { before, after } of change.routes) {
      if (this.#keySets.replace(before, after)) keySetsChanged = true;
    }
    return { ...change, keySetsChanged };
  }
}

function usesOf(environments: Iterable<EnvironmentTable>): KeySetUses {
  const uses = new KeySetUses();
  for (const environment of environments) {
    for (const route of routesOf(environment)) uses.replace(undefined, route);
  }
  return uses;
}

/** Counts the routes that use each key set, so that an unused key set is found without a search. */
class KeySetUses {
  readonly #uses = new Map<string, number>();

  /** The URLs of the key sets. */
  get urls(): ReadonlySet<string> {
    return new Set(this.#uses.keys());
  }

  /** @returns whether a key set is used for the first time or is not used any more */
  replace(before: RouteEntry | undefined, after: RouteEntry | undefined): boolean {
    const [removed, added] = [urlOf(before), urlOf(after)];
    if (removed === added) return false;
    const isUnused = removed !== undefined && this.#add(removed, -1) === 0;
    return (added !== undefined && this.#add(added, 1) === 1) || isUnused;
  }

  #add(url: string, by: number): number {
    const uses = (this.#uses.get(url) ?? 0) + by;
    if (uses === 0) this.#uses.delete(url);
    else this.#uses.set(url, uses);
    return uses;
  }
}

function urlOf(route: RouteEntry | undefined): string | undefined {
  return route?.auth?.type === 'jwt' ? route.auth.jwksUrl : undefined;
}
