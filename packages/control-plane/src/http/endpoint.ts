import type { ErrorCode } from '@gateway/shared/errors/error-table';
import type { Scope } from '@gateway/shared/tokens/scopes';
import { z } from 'zod';
import type { RunChange } from '../changes/store/change-origin.ts';
import type { CallerToken, ConfirmToken } from '../access/caller.ts';
import { parseInput, type DescribeFault } from './input.ts';
import type { Reply } from './reply.ts';
import type { Tag } from './tags.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A management call after authentication, quota, scope check and validation. */
export interface Call<Body, Query> {
  readonly token: CallerToken;
  readonly confirmToken: ConfirmToken;
  /** The `{name}` parts of the path: decoded, but not validated. */
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
  /** The body as it was sent, not validated. */
  readonly sent: unknown;
  readonly query: Query;
  /** The `If-Match` header, not parsed. */
  readonly ifMatch: string | undefined;
  /** The `If-None-Match` header, not parsed. */
  readonly ifNoneMatch: string | undefined;
  readonly requestId: string;
  /** Of a call with an idempotency key: runs its change together with the key. */
  readonly runChange?: RunChange | undefined;
  /** As reported by trusted proxies. */
  readonly clientAddress: string;
  /** Aborts if the client disconnects before the response is complete. */
  readonly signal: AbortSignal;
}

interface Description {
  readonly method: Method;
  /** As in OpenAPI: `/v1/services/{id}`. */
  readonly path: string;
  /** The unique name of the operation, such as `listServices`. It must not change: generated clients use it. */
  readonly operationId: string;
  readonly tag: Tag;
  /** A few words for a table of contents, without a full stop. */
  readonly summary: string;
  /** What the operation does, in sentences. The document adds the scope that it needs. */
  readonly description: string;
  /** null: any token, or `handle` checks its rights. */
  readonly scope: Scope | null;
  /** If `handle` checks the rights of the token: what it needs, as a sentence for the document. */
  readonly rights?: string;
  /** The reply of `handle`: one resource, a new one, either of these (a PUT), a page of a list, or nothing. */
  readonly answers: 'one' | 'created' | 'one or created' | 'page' | 'none';
  /**
   * Of a change: the scopes that the token needs to see the resource that it changed, which it may not have read. Without
   * them the reply is 204.
   */
  readonly seenWith?: readonly Scope[];
  /** The schema of one resource in the reply. Its `meta({ id })` names the component of the document. */
  readonly data?: z.ZodType;
  /** Whether the reply has an ETag. */
  readonly etag?: boolean;
  /** Whether a POST obeys `If-Match`. PUT, PATCH and DELETE do if their errors have `precondition_failed`. */
  readonly ifMatch?: boolean;
  /** Error codes of this endpoint, besides those of all endpoints. */
  readonly errors: readonly ErrorCode[];
  /** If the operation should not be used any more: what to use instead, as a sentence. */
  readonly deprecated?: string;
  /**
   * Of an operation whose reply has a secret: the caller may get the secret of the resource with this id now. A stored
   * reply is given again only then.
   *
   * @returns whether the resource is still there
   * @throws GatewayError
   */
  readonly requireSecretOf?: (caller: CallerToken, id: string) => Promise<boolean>;
}

/** The names of the `{name}` parts of a path. */
type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

/** A description for each part of the path; absent if it has none. */
type Params<Path extends string> = [ParamNames<Path>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: Readonly<Record<ParamNames<Path>, z.ZodType>> };

interface Spec<Body, Query, Path extends string> extends Description {
  readonly path: Path;
  readonly body?: z.ZodType<Body>;
  /** Query parameters, as strings. Undefined: the endpoint has none. */
  readonly query?: z.ZodType<Query>;
  /** The largest body, bytes; by default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** How the details of an invalid body are written; by default with the path of the field. */
  readonly describeFault?: DescribeFault;
  /** The body that is validated, made of the one that was sent: see `round-trip.ts`. */
  readonly prepare?: (call: Call<unknown, unknown>) => Promise<unknown>;
  readonly params?: Endpoint['params'] | undefined;
  readonly handle: (call: Call<Body, Query>) => Promise<Reply> | Reply;
}

/** One method on one path. Routing, validation and the OpenAPI document are derived from it. */
export interface Endpoint extends Description {
  readonly body: z.ZodType | undefined;
  readonly query: z.ZodType;
  readonly maxBodyBytes: number;
  /** The `{name}` parts of the path, for the document. `run` does not validate them. */
  readonly params: Readonly<Record<string, z.ZodType>>;
  /** Validates the call, then handles it. @throws GatewayError */
  readonly run: (call: Call<unknown, unknown>) => Promise<Reply>;
}

const MAX_BODY_BYTES = 1024 * 1024;

const noQuery = z.strictObject({});

/** Defines an endpoint. `handle` gets the body and the query as their schemas parsed them. */
export function endpoint<Body = undefined, Query = unknown, const Path extends string = string>(
  spec: Spec<Body, Query, Path> & Params<Path>,
): Endpoint {
  const {
    handle,
    body,
    query,
    params,
    prepare,
    describeFault,
    maxBodyBytes,
    ...described
  }: Spec<Body, Query, Path> = spec;
  return {
    ...described,
    body,
    query: query ?? noQuery,
    maxBodyBytes: maxBodyBytes ?? MAX_BODY_BYTES,
    params: params ?? {},
    async run(call) {
      const parsedQuery = parseInput<unknown>(query ?? noQuery, call.query) as Query;
      const given =
        prepare === undefined ? call.body : await prepare({ ...call, query: parsedQuery });
      const parsedBody = (
        body === undefined ? undefined : parseInput<unknown>(body, given, describeFault)
      ) as Body;
      return handle({ ...call, query: parsedQuery, body: parsedBody });
    },
  };
}
