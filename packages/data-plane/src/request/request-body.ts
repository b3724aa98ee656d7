import type { Readable } from 'node:stream';
import type { BodyBytes } from '@gateway/http1/message/body-bytes';

/** The body of the caller's request, not read until a stage asks for it. */
export interface RequestBody {
  /** Whether there is none: no Content-Length above zero and no chunks. */
  readonly empty: boolean;
  readonly receivedBytes: number;
  /** Whether it was asked for. A caller that waits for `100 Continue` has sent none of it before that. */
  readonly taken: boolean;
  /**
   * Takes the body, once. Where it fits into `keepBytes` it is read whole and kept, so that it can be
   * sent again; else it streams, beginning with what was read.
   *
   * @throws GatewayError `payload_too_large` past `maxBytes`; `invalid_request` where it stops coming
   */
  take(limits: BodyLimits): TakenBody | Promise<TakenBody>;
}

export interface BodyLimits {
  readonly maxBytes: number;
  readonly keepBytes: number;
  /** By when the whole of a kept body must be there, by the monotonic clock. */
  readonly deadlineMs: number;
}

export type TakenBody =
  | { readonly kind: 'kept'; readonly bytes: BodyBytes | null }
  | { readonly kind: 'stream'; readonly stream: BodyStream };

export interface BodyStream extends Readable {
  /** Whether any of it was read: if so it cannot be sent again. */
  readonly begun: boolean;
  /** Why the caller's side failed it, where it did. */
  readonly failure: Error | undefined;
}

/** Of kept bodies, over all requests of the process. */
export interface BodyBudget {
  /** Takes from the budget, or refuses. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
}

export function createBodyBudget(totalBytes: number): BodyBudget {
  let left = totalBytes;
  return {
    reserve(bytes) {
      if (bytes > left) return false;
      left -= bytes;
      return true;
    },
    release(bytes) {
      left += bytes;
    },
  };
}

const NOTHING: TakenBody = { kind: 'kept', bytes: null };

export const EMPTY_BODY: RequestBody = {
  empty: true,
  receivedBytes: 0,
  taken: false,
  take: () => NOTHING,
};
