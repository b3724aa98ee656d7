import type { CompiledRoute } from './routing-table.ts';

/** How many routes verify their callers with each key set, so that one that none does is known at once. */
export class KeySetUses {
  readonly #uses = new Map<string, number>();

  /** The URLs of the key sets. */
  get urls(): ReadonlySet<string> {
    return new Set(this.#uses.keys());
  }

  /** @returns whether there is a key set that was not used before, or one that is not any more */
  replace(before: CompiledRoute | undefined, after: CompiledRoute | undefined): boolean {
    const [left, taken] = [urlOf(before), urlOf(after)];
    if (left === taken) return false;
    const isLeft = left !== undefined && this.#add(left, -1) === 0;
    return (taken !== undefined && this.#add(taken, 1) === 1) || isLeft;
  }

  #add(url: string, by: number): number {
    const uses = (this.#uses.get(url) ?? 0) + by;
    if (uses === 0) this.#uses.delete(url);
    else this.#uses.set(url, uses);
    return uses;
  }
}

function urlOf(route: CompiledRoute | undefined): string | undefined {
  return route?.auth.type === 'jwt' ? route.auth.jwksUrl : undefined;
}
