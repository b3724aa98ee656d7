import type { paths } from './generated/api.ts';

/** The types of the operations, derived from the generated ones. */

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that have the method. */
export type PathOf<M extends Method> = {
  [Path in keyof paths]: paths[Path] extends Record<M, object> ? Path : never;
}[keyof paths];

type Operation<M extends Method, Path extends keyof paths> = paths[Path][M];

/** Optional if nothing in it is required. */
type Optional<Name extends string, Value> = [Value] extends [never]
  ? { readonly [K in Name]?: never }
  : object extends Value
    ? { readonly [K in Name]?: Value }
    : { readonly [K in Name]: Value };

type ParametersOf<Op> = Op extends { parameters: infer Parameters } ? Parameters : object;

type ContentOf<Message> = Message extends { content: infer Content }
  ? Content[keyof Content]
  : undefined;

type RequestBody<Op> = Op extends { requestBody: infer Body }
  ? { readonly body: ContentOf<Body> }
  : Op extends { requestBody?: infer Body }
    ? { readonly body?: ContentOf<NonNullable<Body>> }
    : object;

/** The parameters and the body of an operation. */
type Init<M extends Method, Path extends keyof paths> = Optional<
  'params',
  ParametersOf<Operation<M, Path>>
> &
  RequestBody<Operation<M, Path>> & {
    readonly headers?: Readonly<Record<string, string>>;
    /** Ends the call early. */
    readonly signal?: AbortSignal | null;
  };

/** The last parameter of a call: it may be left out if the operation needs nothing. */
export type InitParameter<M extends Method, Path extends keyof paths> =
  object extends Init<M, Path> ? [init?: Init<M, Path>] : [init: Init<M, Path>];

type SuccessStatus = 200 | 201 | 202 | 204;

/** The body of a successful response; undefined for 204. */
export type BodyOf<M extends Method, Path extends keyof paths> =
  Operation<M, Path> extends { responses: infer Responses }
    ? ContentOf<Responses[keyof Responses & SuccessStatus]>
    : never;

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
