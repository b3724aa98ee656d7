import type { RouteEntry } from './routing-table.ts';

/** Counts the routes that use each key set, so that an unused key set is found without a search. */
export class KeySetUses {
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
