import { ConnectionGuard, type ReportInternalError } from '../../connection-guard.ts';
import type {
  BodySink,
  BodySource,
  ClientHandler,
  ClientRequest,
  ClientStream,
  End,
  ExchangeFailure,
} from '../../exchange.ts';
import type { HeaderFields } from '../../fields/header-fields.ts';
import type { BodyBytes } from '../../message/body-bytes.ts';
import type { HintReceiver, ResponseHead } from '../../message/response-head.ts';
import { WaitingBody, type BodyConnection, type BodyGate } from '../../message/waiting-body.ts';
import { Http2Stream, type StreamSession } from '../http2-stream.ts';
import { STATE } from '../stream-state.ts';
import { BodyPump } from './body-pump.ts';
import type { ConnectRequest } from './extended-connect.ts';

/** What a stream asks of its session. */
export interface ClientStreamSession extends StreamSession {
  /** Resets the stream, whose handler gets no more calls. */
  cancel(stream: Http2ClientStream): void;
  /** Resets the stream, which has failed at this end. */
  failed(stream: Http2ClientStream, why: ExchangeFailure): void;
  readonly internalError: ReportInternalError;
}

/** What an end of a stream means to the handler. */
function failureOf(end: End): ExchangeFailure {
  if (end === 'malformed') return 'invalid_response';
  return end === 'internal_error' ? 'internal_error' : 'reset';
}

/** One stream to a server: a request that is sent, and the response that is received. */
export class Http2ClientStream
  extends Http2Stream
  implements ClientStream, BodyConnection, BodyGate, BodySink
{
  /** Whether the response to it has no body (RFC 9110 section 9.3.2). */
  readonly isHead: boolean;
  /** Whether the head of the final response has arrived. */
  hasHead = false;
  interimResponses = 0;
  /** That of a request to leave HTTP. */
  connect: ConnectRequest | undefined = undefined;
  /** Whether both sides send bytes of another protocol. */
  isTunnel = false;
  /** Why the stream is closed, if its end does not say it. */
  failure: ExchangeFailure | undefined = undefined;
  readonly #session: ClientStreamSession;
  readonly #hints: HintReceiver | undefined;
  /** undefined if it is cancelled, or got the end of the response. */
  #handler: ClientHandler | undefined;
  #body: WaitingBody | undefined = undefined;
  #pump: BodyPump | undefined = undefined;
  #guard: ConnectionGuard | undefined = undefined;

  constructor(
    request: ClientRequest,
    handler: ClientHandler,
    session: ClientStreamSession,
    sendWindow: number,
  ) {
    super(0, sendWindow);
    this.state = STATE.idle;
    this.isHead = request.method === 'HEAD';
    this.#hints = request.hints;
    this.#handler = handler;
    this.#session = session;
  }

  protected override get session(): StreamSession {
    return this.#session;
  }

  /** An exception in what handles this exchange ends its stream only. */
  get guard(): ConnectionGuard {
    const broken = {
      destroy: () => {
        this.#session.failed(this, 'internal_error');
        // A response that waits for its reader outlasts its stream.
        this.#body?.discard();
        this.failed('internal_error');
      },
    };
    return (this.#guard ??= new ConnectionGuard(broken, this.#session.internalError));
  }

  get gate(): BodyGate {
    return this;
  }

  // What is sent.

  /** Sends a request with these fields, which begin with its pseudo-header fields. */
  send(fields: HeaderFields, { body, contentLength }: ClientRequest): void {
    this.fields = fields;
    if (body === null) this.sendPart('', true);
    else if (typeof body === 'string' || Buffer.isBuffer(body)) this.sendPart(body, true);
    else {
      this.#session.changed(this);
      this.#start(body, contentLength);
    }
  }

  sendConnect(): void {
    this.fields = this.connect?.fields;
    this.#session.changed(this);
  }

  sendBytes(source: BodySource): void {
    if (this.isClosed) source.discard();
    else this.#start(source, undefined);
  }

  #start(source: BodySource, length: number | undefined): void {
    this.#pump = new BodyPump(source, length, {
      send: (bytes, last, trailers) => this.sendPart(bytes, last, trailers),
      failed: (why) => {
        this.#session.failed(this, why);
      },
    });
    this.#pump.start();
  }

  override writable(): void {
    this.#pump?.resume();
  }

  // What is received. What throws in the handler must not reach the other streams of the connection.

  /** Fields of a 103. */
  hint(fields: HeaderFields): void {
    if (this.#handler === undefined) return;
    this.#guarded(() => {
      this.#hints?.hints(fields);
    });
  }

  /** The head of the final response. */
  head(head: ResponseHead, last: boolean): void {
    const handler = this.#handler;
    this.hasHead = true;
    if (!last && handler !== undefined) {
      this.#body = new WaitingBody(this);
      this.#body.start(this);
    }
    try {
      handler?.head(head, last);
      if (last) this.#handler = undefined;
    } catch (error) {
      this.guard.fail(error);
    }
  }

  /** The read that has brought the head was handled. */
  delivered(): void {
    this.#guarded(() => {
      this.#handler?.delivered();
    });
  }

  override received(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    if (this.#body === undefined) {
      if (bytes.length > 0) this.dropped(bytes.length);
      return;
    }
    try {
      this.#body.received(bytes, last, trailers);
    } catch (error) {
      this.guard.fail(error);
    }
  }

  /** The body passes this on at the pace of its reader. */
  data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    this.#handler?.data(bytes, last, trailers);
    if (last) this.#handler = undefined;
  }

  #guarded(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.guard.fail(error);
    }
  }

  failed(end: End): void {
    const handler = this.#handler;
    this.#handler = undefined;
    handler?.failed(this.failure ?? failureOf(end), this.#mayHaveReachedServer);
  }

  /** A request without an id was not sent. */
  get #mayHaveReachedServer(): boolean {
    if (this.failure === 'refused_stream' || this.failure === 'goaway') return false;
    return this.id > 0;
  }

  /** The windows bound what waits: a peer may send more only when some of it was consumed. */
  holdBody(): void {
    return undefined;
  }

  dropped(bytes: number): void {
    this.#session.read(this, bytes);
  }

  consumed(bytes: number): void {
    this.#session.read(this, bytes);
  }

  pause(): void {
    this.#body?.pause();
  }

  resume(): void {
    this.#body?.resume();
  }

  /** Whether the server sends nothing more. */
  get hasEnded(): boolean {
    return this.state === STATE.halfClosedRemote;
  }

  cancel(): void {
    this.#handler = undefined;
    this.#body?.discard();
    this.#session.cancel(this);
  }

  /** The handler gets no more calls. */
  silence(): void {
    this.#handler = undefined;
  }

  override closed(end: End): void {
    this.#guarded(() => {
      this.#pump?.discard();
    });
    if (end === 'complete') return;
    this.#guarded(() => {
      if (this.#body === undefined) this.failed(end);
      else this.#body.fail(end);
    });
  }
}
