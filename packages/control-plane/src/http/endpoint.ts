import type { ErrorCode } from '@gateway/shared/errors/error-table';
import type { Scope, TokenReach } from '@gateway/shared/tokens/scopes';
import { z } from 'zod';
import { parseInput } from './input.ts';
import type { Reply } from './reply.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** The token of a management call. */
export interface CallerToken extends TokenReach {
  readonly id: string;
  /** When the token, or the secret that opened it, ends; null: never. */
  readonly expires_at: Date | null;
}

/** A management call that has passed authentication, quota, scope and validation. */
export interface Call<Body, Query> {
  readonly token: CallerToken;
  /** The `{name}` parts of the path, decoded; not validated. */
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly query: Query;
  /** The `If-Match` field as it came. */
  readonly ifMatch: string | undefined;
  readonly requestId: string;
  /** As trusted proxies tell it. */
  readonly clientAddress: string;
  /** Aborts when the client leaves before its answer is complete. */
  readonly signal: AbortSignal;
}

interface Described {
  readonly method: Method;
  /** As in OpenAPI: `/v1/services/{id}`. */
  readonly path: string;
  readonly summary: string;
  /** null: any token will do. */
  readonly scope: Scope | null;
  /** What `handle` answers with: one resource, a new one, a page of a list, or nothing. */
  readonly answers: 'one' | 'created' | 'page' | 'none';
  /** The shape of one resource in the answer. */
  readonly data?: z.ZodType;
  /** Codes that this endpoint answers besides those that every one does. */
  readonly errors: readonly ErrorCode[];
}

interface Spec<Body, Query> extends Described {
  readonly body?: z.ZodType<Body>;
  /** Query parameters, each a text as it came; without this none are taken. */
  readonly query?: z.ZodType<Query>;
  readonly handle: (call: Call<Body, Query>) => Promise<Reply> | Reply;
}

/** One method on one path: routing, validation and the OpenAPI document are all made of these. */
export interface Endpoint extends Described {
  readonly body: z.ZodType | undefined;
  readonly query: z.ZodType;
  /** Parses what the caller sent, then handles it. @throws GatewayError */
  readonly run: (call: Call<unknown, unknown>) => Promise<Reply>;
}

const noQuery = z.strictObject({});

/** Describes an endpoint; `handle` gets what its schemas made of the body and the query. */
export function endpoint<Body = undefined, Query = unknown>(spec: Spec<Body, Query>): Endpoint {
  const { handle, body, query = noQuery, ...described } = spec;
  return {
    ...described,
    body,
    query,
    async run(call) {
      const parsedQuery = parseInput<unknown>(query, call.query) as Query;
      const parsedBody = (
        body === undefined ? undefined : parseInput<unknown>(body, call.body)
      ) as Body;
      return handle({ ...call, query: parsedQuery, body: parsedBody });
    },
  };
}
