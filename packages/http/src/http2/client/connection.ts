import { ConnectionGuard } from '../../connection-guard.ts';
import type {
  ClientConnection,
  ClientHandler,
  ClientRequest,
  ClientStream,
  ConnectionOwner,
  End,
} from '../../exchange.ts';
import type { ConnectedSocket } from '../../sockets/connect.ts';
import { UnsendableError } from '../../message/message-writer.ts';
import { beginsAsHttp1 } from '../../other-version.ts';
import { Bodies } from '../bodies.ts';
import { Http2Connection } from '../http2-connection.ts';
import { ERROR, PREFACE, type EndReason } from '../protocol.ts';
import { Receiver } from '../receiver.ts';
import { connectRequest } from './extended-connect.ts';
import type { ClientState } from './options.ts';
import { requestFields } from './request-fields.ts';
import { Responses } from './responses.ts';
import { ClientSession, type ClientSessionEvents } from './session.ts';
import { Http2ClientStream } from './stream.ts';

/** What holds such connections. */
export interface Http2ConnectionOwner extends ConnectionOwner<Http2ClientConnection> {
  /** The server takes no further exchange on it. Not called after `retire`. */
  announcedEnd?(connection: Http2ClientConnection): void;
  /** The server has said how many exchanges it takes. Called once. */
  limitKnown?(connection: Http2ClientConnection): void;
}

/** A connection to a server, with as many exchanges at a time as both ends allow. */
export class Http2ClientConnection
  extends Http2Connection
  implements ClientConnection, ClientSessionEvents
{
  protected override readonly session: ClientSession;
  protected override readonly receiver: Receiver;
  readonly #owner: Http2ConnectionOwner;
  readonly #state: ClientState;
  readonly #responses: Responses;
  readonly #scheme: string;
  #isRetired = false;

  constructor(
    { socket, readBy }: ConnectedSocket,
    owner: Http2ConnectionOwner,
    client: ClientState,
    checkMs: number,
  ) {
    super(socket, client.clock);
    this.#owner = owner;
    this.#state = client;
    this.#scheme = 'encrypted' in socket ? 'https' : 'http';
    const broken = {
      destroy: () => {
        this.#break();
      },
    };
    const internalError = (error: unknown) => {
      owner.internalError(error);
    };
    const guard = new ConnectionGuard(broken, internalError);
    this.session = new ClientSession(socket, client, this, guard, internalError, checkMs);
    const bodies = new Bodies(this.session);
    this.#responses = new Responses(this.session, bodies);
    this.receiver = new Receiver(this.session, bodies, this.#responses.block);
    this.session.sender.control.bytes(PREFACE);
    this.begin(readBy);
  }

  get free(): number {
    const isUsable = this.state === 'open' && !this.#isRetired && this.socket.writable;
    return isUsable ? this.session.free : 0;
  }

  /** How many exchanges it carries now. */
  get carried(): number {
    return this.session.carried;
  }

  get resets(): number {
    return this.session.resets;
  }

  /** Whether it takes no further exchange: `retire` was called, the server has announced its end, or it is closed. */
  get isRetired(): boolean {
    return this.#isRetired || this.session.isGoingAway || this.state !== 'open';
  }

  carry(request: ClientRequest, handler: ClientHandler): ClientStream {
    const { session } = this;
    const stream = new Http2ClientStream(request, handler, session, session.peer.initialWindow);
    try {
      if (this.state !== 'open') {
        handler.failed('reset', false);
        return stream;
      }
      const fields = requestFields(this.#scheme, this.#owner.host, request);
      session.add(stream);
      if (request.upgrade === undefined) stream.send(fields, request);
      else {
        stream.connect = connectRequest(fields);
        session.connect(stream);
      }
    } catch (error) {
      if (error instanceof UnsendableError) handler.failed('unsendable', false);
      else stream.guard.fail(error);
    }
    return stream;
  }

  /** A stream was closed, or the server allows another number of them. */
  changed(): void {
    if (this.free > 0) {
      this.guard.run(() => {
        this.#owner.freed(this);
      });
    }
    if (this.closesWhenIdle) this.schedule();
  }

  limitKnown(): void {
    this.guard.run(() => {
      this.#owner.limitKnown?.(this);
    });
  }

  protected override beforeFail(bytes: Buffer): void {
    const isFirst = this.receivedBytes === bytes.length;
    if (isFirst && beginsAsHttp1(bytes)) this.session.failAs('speaks_http1');
  }

  /** Tells handlers of the heads that have arrived. */
  protected override beforeFlush(): void {
    this.#responses.endOfRead();
  }

  protected override get closesWhenIdle(): boolean {
    return this.#isRetired || this.session.isGoingAway;
  }

  /** A server opens no streams. */
  protected override get lastStream(): number {
    return 0;
  }

  protected override reportEnd(reason: EndReason): void {
    this.#state.ended(reason);
  }

  /** What the server sent is at fault, unless it sent nothing. */
  protected override endOf(reason: EndReason): Exclude<End, 'complete'> {
    return reason === 'HTTP2_TIMEOUT' || reason === 'HTTP2_UNREAD' ? 'peer_left' : 'malformed';
  }

  /** The server takes no further request. */
  goesAway(): void {
    if (!this.#isRetired && this.state === 'open') {
      this.guard.run(() => {
        this.#owner.announcedEnd?.(this);
      });
    }
    this.schedule();
  }

  /** Requests that were not sent are not sent any more. */
  protected override end(code: number, end: Exclude<End, 'complete'>): void {
    this.state = 'ending';
    this.session.closeAll(end);
    super.end(code, end);
  }

  /** Called often; ends what took too long. */
  check(nowMs: number): void {
    const { session } = this;
    session.lastFields.check(nowMs);
    const due = session.deadlines.due(nowMs, session.limits);
    if (due === 'destroy') this.socket.destroy();
    if (this.state !== 'open') return;
    if (due === 'idle') this.end(ERROR.noError, 'drained');
    else if (due === 'settings') this.fail(ERROR.settingsTimeout, 'HTTP2_TIMEOUT');
    else if (due === 'head') this.fail(ERROR.enhanceYourCalm, 'HTTP2_TIMEOUT');
    else if (this.#isSilent(nowMs)) {
      this.#state.ended('HTTP2_SILENT');
      this.#close('peer_left');
    } else if (session.sender.control.length > 0) this.schedule();
  }

  #isSilent(nowMs: number): boolean {
    const { liveness, hasStreams } = this.session;
    return liveness.check(nowMs, hasStreams, this.receivedBytes, this.receiver.frames);
  }

  retire(): void {
    this.#isRetired = true;
    this.schedule();
  }

  retireForResets(): void {
    this.#state.ended('HTTP2_RESETS');
    this.retire();
  }

  destroy(): void {
    this.session.silence();
    this.#close('drained');
  }

  #break(): void {
    this.#close('internal_error');
  }

  /** Closes the socket now. */
  #close(end: Exclude<End, 'complete'>): void {
    this.state = this.state === 'closed' ? 'closed' : 'ending';
    this.stopReading();
    this.session.closeAll(end);
    this.socket.destroy();
  }

  protected override hasClosed(): void {
    super.hasClosed();
    this.guard.run(() => {
      this.#owner.closed(this);
    });
  }
}
