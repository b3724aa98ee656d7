import { readNames, useNames } from './names-by-id.ts';

/** The names of these tokens by id, without those that the session may not see. @throws ApiError, ConnectionError */
export const readTokenNames = (
  ids: readonly (string | null)[],
  options: Parameters<typeof readNames>[2],
): Promise<ReadonlyMap<string, string>> => readNames('token', ids, options);

/**
 * Names the tokens of a list: one that was revoked as `ana (revoked)`, one that the session may not see by its id.
 * @param ids may have an id twice; null: the gateway itself
 */
export const useNamesOfTokens = (ids: readonly (string | null)[]): ((id: string) => string) =>
  useNames('token', ids).nameOf;
