import type { ConnectionGuard, EndReason } from './connection-guard.ts';
import type { HeaderFields } from './fields/header-fields.ts';
import type { BodyBytes } from './message/body-bytes.ts';
import type { ForwardedFields, PassedFields } from './message/message-writer.ts';
import type { RequestHead } from './message/request-head.ts';
import type { HintReceiver, ResponseHead } from './message/response-head.ts';

/*
 * The seam between the protocol engines and the gateway, the same for every version of HTTP, for callers and for
 * upstreams. All of it is synchronous calls. `last` ends a message; a message without it is incomplete, however its
 * connection ended. With `last` come the trailers, the fields after a body (RFC 9110 section 6.5). Bytes are valid until
 * the call that passes them returns.
 */

/**
 * How an exchange, or the body of its request, ended. `peer_left`: the other side closed or reset it. `malformed`: its
 * bytes are no body. `cut_short`: the response has no end, because what it was made from broke off. The others are
 * reasons of the gateway.
 */
export type End = 'complete' | 'peer_left' | 'malformed' | 'cut_short' | EndReason;

/** Receives a body. */
export interface BodySink {
  /**
   * A part of the body. With `last` it may be empty.
   *
   * @param trailers the fields after it, if there are any; only with `last`
   */
  data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void;
  /** No more of it will arrive. Nothing is called after it. */
  failed(end: End): void;
}

/** A body that one reader takes at its own pace. */
export interface BodySource {
  /** How it has ended so far, whether or not it was read. undefined: more of it may arrive. */
  readonly ended: End | undefined;
  /** Passes on what has arrived, before it returns, and then what arrives. Called once. */
  start(sink: BodySink): void;
  /** Nothing is passed on until `resume`. What arrives waits, up to a bound; then the peer may send no more. */
  pause(): void;
  /** Passes on what waits, before it returns, and then what arrives. */
  resume(): void;
  /** The rest is unwanted. The sink gets no more calls. */
  discard(): void;
}

/** The body of a request. Without a reader it waits, up to a bound. */
export interface RequestBodySource extends BodySource {
  /** The fields after it, once it has ended; undefined: there are none. Also of a body that is taken whole. */
  readonly trailers: HeaderFields | undefined;
  /**
   * Returns the whole body if it has arrived, is not longer than `maxBytes`, and nothing has read it. It must not be
   * started then.
   */
  takeWhole(maxBytes: number): BodyBytes | undefined;
}

/** Whether the certificate of a connection covers the authority of a request: a host with or without a port. */
export type CoversAuthority = (authority: string) => boolean;

/** The connection of a caller. Other requests may share it, so it is not closed for one of them. */
export interface CallerConnection {
  /** The remote address; empty if it is not known any more. */
  readonly address: string;
  readonly isSecure: boolean;
  /** undefined: the connection takes requests with any authority. HTTP/1.1 never has it. */
  readonly coversAuthority?: CoversAuthority | undefined;
  /** For what handles its requests. */
  readonly guard: ConnectionGuard;
}

/** What an engine tells the handler of a request. */
export interface ServerExchangeHandler {
  /** After `send` has returned false: the caller takes more. */
  writable(): void;
  /**
   * Nothing more is sent. Called once for each exchange. `complete`: the system, or the caller, has taken the whole
   * response. The engine discards what is left of the request.
   *
   * @param error that of the connection or the stream, if it failed
   */
  closed(end: End, error?: Error): void;
}

/** For the time in which an exchange has no other handler. */
export const NO_HANDLER: ServerExchangeHandler = {
  writable: () => undefined,
  closed: () => undefined,
};

/** One request of a caller and its response. The handler of `onExchange` sets `handler` before it returns. */
export interface ServerExchange {
  readonly head: RequestHead;
  /** After a 101: the bytes of the caller. */
  readonly body: RequestBodySource;
  readonly connection: CallerConnection;
  handler: ServerExchangeHandler;
  /** Whether `respond` was called. */
  readonly hasResponded: boolean;
  /** Whether nothing can be sent any more. All calls below then do nothing. */
  readonly isClosed: boolean;
  /**
   * Sends an interim response: `100 Continue`, or 103 with hints of what the final response will have (RFC 8297). Does
   * nothing after `respond`, and for HTTP/1.0, which has none (RFC 9110 section 15.2).
   *
   * @returns false if it was dropped because the caller does not read fast enough. A 100 never is
   * @throws UnsendableError as `respond`
   */
  sendInterim(status: 100 | 103, fields: HeaderFields): boolean;
  /**
   * The head of the response. It waits for the first `send` or `flush`, so that both leave in one write. The fields may
   * contain `Connection: close`, which ends an HTTP/1.1 connection after the response and has no other meaning.
   *
   * The status 101 switches to the protocol in `head.upgrade`: from then on `body` and `send` carry its bytes. Such an
   * exchange is complete, however it ends, once the system has taken the head.
   *
   * @param last whether there is no body
   * @param passed further fields, which are sent before the others
   * @throws UnsendableError if a value contains a control character; nothing was sent then
   */
  respond(
    status: number,
    text: string,
    fields: HeaderFields,
    last: boolean,
    passed?: PassedFields,
  ): void;
  /**
   * A part of the body. What is not sent at once is copied if it lies in the read buffer. A response that has no body,
   * such as that to HEAD, drops the bytes.
   *
   * @param trailers fields to send after the body; only with `last`. A response that cannot have them, such as one of an
   * announced length over HTTP/1.1, is sent without them
   * @returns false if the caller does not read fast enough; `writable` is called when it does
   * @throws UnsendableError if the value of a trailer contains a control character; nothing was sent then
   */
  send(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): boolean;
  /** Sends a head that waits. */
  flush(): void;
  /** Ends the response so that it cannot look complete; `closed` is called with this end. */
  abort(end: Exclude<End, 'complete'>): void;
}

/** A request to send. */
export interface ClientRequest {
  readonly method: string;
  /** The target of the request line. */
  readonly path: string;
  /** The value of `Host`; undefined: that of the connection. */
  readonly host?: string | undefined;
  /** Without Host and framing, which are added when it is sent. */
  readonly fields: HeaderFields;
  /** Further fields, which are sent before `fields`. */
  readonly passed?: readonly ForwardedFields[] | undefined;
  readonly body: BodyBytes | BodySource | null;
  /** The length of a body that streams; undefined if it is sent in chunks. Over HTTP/1.1 only chunks have trailers. */
  readonly contentLength: number | undefined;
  /**
   * The protocol to switch to, in lower case, such as `websocket`; undefined for a plain request. After a response with
   * the status 101 the bytes of the server are its body. Only for a request without a body.
   */
  readonly upgrade?: string | undefined;
  /** Whether the response may have trailers: `TE: trailers` is sent (RFC 9110 section 10.1.4). */
  readonly takesTrailers?: boolean | undefined;
  /** Receives hints that come before the head of the response. undefined: they are skipped, as other interim responses. */
  readonly hints?: HintReceiver | undefined;
}

/**
 * Why an exchange with a server failed. `reset`: the connection or the stream ended early. `refused_stream`: the server
 * refused it and did nothing of it (REFUSED_STREAM). `server_cancelled`: the server has reset the stream with CANCEL after
 * the head of its response. `goaway`: the server has ended the connection, and named an earlier
 * exchange as the last one that it looked at. `connect_not_offered`: the request leaves HTTP, for which the server of HTTP/2
 * has no extended CONNECT (RFC 8441). `speaks_http1`, `speaks_http2`: the server answered in another version of HTTP than that
 * of the connection. `request_body`: the body to send failed. `internal_error`: an exception of
 * this process.
 */
export type ExchangeFailure =
  | 'reset'
  | 'refused_stream'
  | 'server_cancelled'
  | 'goaway'
  | 'connect_not_offered'
  | 'invalid_response'
  | 'speaks_http1'
  | 'speaks_http2'
  | 'response_head_too_large'
  | 'request_body'
  | 'unsendable'
  | 'internal_error';

/** Receives the response to a request. */
export interface ClientHandler {
  /** The head of the final response. */
  head(head: ResponseHead, last: boolean): void;
  /**
   * A part of the body. With `last` it may be empty.
   *
   * @param trailers the fields after it, if there are any; only with `last`
   */
  data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void;
  /** All that has arrived with the head was passed on, and it is not the whole response. Called once. */
  delivered(): void;
  /**
   * There will be no response, or no more of it.
   *
   * @param mayHaveReachedServer whether the server may have acted on the request
   */
  failed(why: ExchangeFailure, mayHaveReachedServer: boolean): void;
}

/** The response of a server, as its receiver controls it. */
export interface ClientStream {
  /**
   * For what handles this exchange. It ends as if the server had reset it; other exchanges of its connection do not, if it
   * carries several.
   */
  readonly guard: ConnectionGuard;
  pause(): void;
  resume(): void;
  /** After a 101: sends these bytes of the new protocol until they end. */
  sendBytes(source: BodySource): void;
  /**
   * The response is not wanted; its handler gets no more calls. A connection that carries only this exchange is closed,
   * unless the whole response arrives within the read that is being handled.
   */
  cancel(): void;
}

/** What holds a connection to a server: a pool. */
export interface ConnectionOwner<Connection = ClientConnection> {
  /** The authority of requests that name none. */
  readonly host: string;
  /** It takes an exchange again: one has ended, or the server allows more of them. */
  freed(connection: Connection): void;
  /** The connection is closed. */
  closed(connection: Connection): void;
  /** An exception in what handles an exchange; the connection ends with it. */
  internalError(error: unknown): void;
}

/** One connection to a server, as a pool sees it. */
export interface ClientConnection {
  /** How many further exchanges it takes: with HTTP/1.1 none or one. */
  readonly free: number;
  /** All its exchanges end as if the server had closed the connection. */
  readonly guard: ConnectionGuard;
  /** Sends a request. The handler may be called before this returns. */
  carry(request: ClientRequest, handler: ClientHandler): ClientStream;
  /** Takes no further exchange, and closes when those in progress have ended. */
  retire(): void;
  /** Closes it now. The handlers of its exchanges are not informed. */
  destroy(): void;
}

/** A connection that carries several exchanges at one time. */
export interface SharedClientConnection extends ClientConnection {
  /** How many exchanges it carries now. */
  readonly carried: number;
  /** Whether it takes no further exchange: `retire` was called, or the server has announced its end. */
  readonly isRetired: boolean;
  /** How many exchanges this end has reset. Servers end a connection with all its exchanges if these are too many. */
  readonly resets: number;
  /** As `retire`, because of its resets. */
  retireForResets(): void;
}

/** What holds connections that carry several exchanges. */
export interface SharedConnectionOwner extends ConnectionOwner<SharedClientConnection> {
  /** The server takes no further exchange on it. Not called after `retire`. */
  announcedEnd(connection: SharedClientConnection): void;
  /** The server has said how many exchanges it takes at one time. Called once. */
  limitKnown(connection: SharedClientConnection): void;
}
