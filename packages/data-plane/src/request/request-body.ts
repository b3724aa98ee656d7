import type { BodySource } from '@gateway/http/exchange';
import type { HeaderFields } from '@gateway/http/fields/header-fields';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import type { MessageSizes } from './message-sizes.ts';
import type { ResendableBody } from './resendable-body.ts';
import type { StreamProgress } from './stream-progress.ts';
import type { TrailerContext } from './trailers.ts';

/** The body of the caller's request, not read until a stage asks for it. */
export interface RequestBody {
  /** Whether the request has no body: no Content-Length above zero and no chunks. */
  readonly empty: boolean;
  readonly receivedBytes: number;
  /** Why it failed while it streamed; undefined: it has not. */
  readonly failure: Error | undefined;
  /** Whether `take` was called. A caller that waits for `100 Continue` sends nothing before that. */
  readonly taken: boolean;
  /**
   * Takes the body; may be called once. The wait for it is added to the account of time. A body of at most `keepBytes` is
   * read whole and kept, so that it can be sent again. Any other body streams, starting with the bytes already read.
   *
   * @throws GatewayError `payload_too_large` above `maxBytes`, or with a message that is too large; `request_timeout` if the body times out
   */
  take(limits: BodyLimits): TakenBody | Promise<TakenBody>;
  /** Called when the request is over: gives up what is left of the body, and its memory. */
  release(): void;
}

export interface BodyLimits {
  readonly maxBytes: number;
  /** Bounds each message of the body, in place of `maxBytes`; undefined: it has no messages that are bounded. */
  readonly messages?: MessageSizes | undefined;
  readonly keepBytes: number;
  /** Whether a body that has not arrived whole streams, also if it may be short enough to be kept. */
  readonly streamsEarly?: boolean | undefined;
  /** Told of what arrives, in place of the bounds of uploads; undefined: these apply. */
  readonly stream?: StreamProgress | undefined;
  readonly upload: UploadLimits;
  /** It has a status when its response has begun. From then on the caller may take its time. */
  readonly request: { readonly status: number | undefined };
}

/** How long the gateway waits for a request body: fields of a route, or what stands for them elsewhere. */
export interface UploadLimits {
  readonly max_upload_ms: number;
  /** 0: no minimum. */
  readonly min_upload_bytes_per_second: number;
  /** null: as long as the data plane says. */
  readonly body_idle_timeout_ms: number | null;
}

export type TakenBody =
  | {
      readonly kind: 'kept';
      readonly bytes: BodyBytes | null;
      /** The fields after it, as the caller sent them; undefined: there are none. */
      readonly trailers?: HeaderFields | undefined;
    }
  | {
      readonly kind: 'stream';
      readonly stream: BodyStream;
      /** For its attempts, if more than one may send it; undefined: once one has begun, none may follow. */
      readonly resendable?: ResendableBody;
    };

/** A body that streams to an attempt. */
export interface BodyStream extends BodySource {
  /** The trailers of this request are passed on, as far as they may. Without this call they are dropped. */
  passTrailersFor(request: TrailerContext): void;
  /** Whether it was started, or has failed. */
  readonly begun: boolean;
  /** Whether all of it was passed to an attempt. */
  readonly isRead: boolean;
  /** For what is kept of it. */
  readonly budget: BodyBudget;
  /** The error of the caller's side, if it failed. */
  readonly failure: Error | undefined;
}

/** Memory budget for the kept bodies of all requests of the process. */
export interface BodyBudget {
  /** Whether less than half is left. */
  readonly isShort: boolean;
  /** Returns false, and takes nothing, if the budget has less left. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
}

export function createBodyBudget(totalBytes: number): BodyBudget {
  let left = totalBytes;
  return {
    get isShort() {
      return left * 2 < totalBytes;
    },
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
  failure: undefined,
  taken: false,
  take: () => NOTHING,
  release: () => undefined,
};
