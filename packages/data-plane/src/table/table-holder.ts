import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { NO_KEYS, type CredentialOpener } from './compile-credential.ts';
import { compileEnvironment } from './compile.ts';
import {
  EMPTY_TABLE,
  keySetUrlsOf,
  upstreamsOf,
  withEnvironment,
  type RoutingTable,
} from './routing-table.ts';

/** Holds the table that requests read. A new one takes its place by one assignment. */
export class TableHolder {
  #current: RoutingTable = EMPTY_TABLE;
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
    return keySetUrlsOf(this.#current);
  }

  /**
   * Takes the configuration of one environment.
   *
   * @throws Error where it does not compile; the table stays as it was
   */
  apply(snapshot: Snapshot): void {
    const before = this.#current.environments.get(snapshot.environment);
    this.#current = withEnvironment(
      this.#current,
      compileEnvironment(snapshot, before, this.#opener),
    );
  }
}
