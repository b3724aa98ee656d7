/** The search parameters of a list with pages. */
export interface ListSearch {
  /** The position of the shown page; absent: the first one. */
  readonly cursor?: string;
}

/** Reads them from a URL. */
export function listSearch({ cursor }: Record<string, unknown>): ListSearch {
  return typeof cursor === 'string' && cursor !== '' ? { cursor } : {};
}
