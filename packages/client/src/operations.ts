import type { FetchOptions } from 'openapi-fetch';
import type {
  FilterKeys,
  PathsWithMethod,
  RequiredKeysOf,
  ResponseObjectMap,
  SuccessResponse,
} from 'openapi-typescript-helpers';
import type { paths } from './generated/api.ts';

/** The types of the operations, derived from the generated ones. */

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that have the method. */
export type PathOf<M extends Method> = PathsWithMethod<paths, M>;

/** The parameters and the body of an operation. */
type Init<M extends Method, Path extends keyof paths> = Omit<
  FetchOptions<FilterKeys<paths[Path], M>>,
  'baseUrl' | 'fetch' | 'middleware' | 'parseAs'
>;

/** The last parameter of a call: it may be left out if the operation needs nothing. */
export type InitParameter<M extends Method, Path extends keyof paths> =
  RequiredKeysOf<Init<M, Path>> extends never ? [init?: Init<M, Path>] : [init: Init<M, Path>];

/** The body of a successful response; undefined for 204. */
export type BodyOf<M extends Method, Path extends keyof paths> = SuccessResponse<
  ResponseObjectMap<NonNullable<paths[Path][M]>>
>;

interface Page {
  readonly data: readonly unknown[];
  readonly next_cursor: string | null;
}

/** The paths of lists. */
export type ListPath = {
  [Path in PathOf<'get'>]: BodyOf<'get', Path> extends Page ? Path : never;
}[PathOf<'get'>];

/** An item of a list. */
export type ItemOf<Path extends ListPath> =
  BodyOf<'get', Path> extends { data: readonly (infer Item)[] } ? Item : never;
