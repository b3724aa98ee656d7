import type { Socket } from 'node:net';
import { ConnectionGuard } from '../connection-guard.ts';
import { isUnreadable } from '../message/framing.ts';
import { toStayValid } from '../message/read-buffer.ts';
import { MessageReader } from '../message/message-reader.ts';
import { REQUEST_SYNTAX, type RequestHead } from '../message/request-head.ts';
import type { ReadSocket } from './direct-reads.ts';
import type { ConnectionProgress, ConnectionStage } from './connection-progress.ts';
import { abortConnection, Linger } from './linger.ts';
import type { RefusalReason, ServerOptions } from './options.ts';
import { HOLD, ReadGate } from './read-gate.ts';
import { ServerRequest } from './request.ts';
import { ServerResponse } from './response.ts';
import { sendRefusal } from './send-refusal.ts';
import { UnreadBytes } from './unread-bytes.ts';

/** A connection is not read while more than this has arrived before its turn. */
const MAX_AHEAD_BYTES = 64 * 1024;
/** How many requests of one connection are handled before other connections get their turn. */
const REQUESTS_AT_ONCE = 16;

/**
 * One connection of a caller, with one request at a time (RFC 9112 section 9.3). Bytes that arrive early wait until the
 * response before them was sent; above a limit the connection is not read.
 */
export class ServerConnection implements ConnectionProgress {
  readonly socket: Socket;
  /** For what handles its requests. */
  readonly guard: ConnectionGuard;
  /** When the wait for the rest of a head, or for the first request, started; ms, monotonic. */
  headSinceMs: number | undefined;
  readonly #readBy: ReadSocket['readBy'];
  readonly #options: ServerOptions;
  readonly #date: () => string;
  readonly #reader: MessageReader<RequestHead>;
  readonly #gate: ReadGate;
  readonly #linger: Linger;
  #request: ServerRequest | undefined = undefined;
  #response: ServerResponse | undefined = undefined;
  /** Whether the request was passed on. */
  #isDispatched = false;
  /** Whether a response was sent; the response that is pending may have begun. */
  #hasAnswered = false;
  /** Bytes that have arrived and are not read yet. */
  readonly #ahead = new UnreadBytes();
  /** `ending`: bytes that arrive are not read as a request. `taken_over`: the connection has another owner. */
  #state: 'open' | 'ending' | 'taken_over' = 'open';
  #reading = false;
  readonly #onEnd = () => {
    // A caller that closes its side before the response has left.
    this.socket.destroy();
  };
  readonly #onDrain = () => {
    this.guard.run(() => this.#response?.drained());
  };

  constructor({ socket, readBy }: ReadSocket, options: ServerOptions, date: () => string) {
    this.socket = socket;
    this.#readBy = readBy;
    this.#options = options;
    this.#date = date;
    this.guard = new ConnectionGuard(socket, options.internalError);
    this.#gate = new ReadGate(socket, options.clock);
    this.#linger = new Linger(socket, this.#gate, options);
    this.headSinceMs = options.clock.monotonicMs();
    this.#reader = new MessageReader(
      REQUEST_SYNTAX,
      {
        head: (head) => {
          this.#begin(head);
        },
        body: (bytes) => {
          if (typeof bytes === 'string') this.#request?.receivedWhole(bytes);
          else this.#request?.received(bytes);
        },
        end: () => {
          this.#request?.ended();
          this.#forgetAnswered();
        },
      },
      options,
    );
    this.#reader.expect();
    readBy((bytes) => {
      this.#received(bytes);
    });
    socket.on('end', this.#onEnd).on('drain', this.#onDrain);
    socket.on('error', (error) => {
      this.guard.run(() => this.#response?.failed(error));
    });
    socket.once('close', () => {
      this.#linger.stop();
      this.#gate.stop();
      if (this.#state === 'open') this.#state = 'ending';
      this.#ahead.clear();
      this.guard.run(() => {
        this.#abandon();
      });
    });
  }

  /** Whether a response is pending. */
  get busy(): boolean {
    return this.#response !== undefined;
  }

  get takenOver(): boolean {
    return this.#state === 'taken_over';
  }

  /** Whether the response was sent and the caller may still be sending, so that a close could destroy the response. */
  get #lingers(): boolean {
    if (this.busy || this.takenOver) return false;
    return this.#state === 'ending' || this.#request?.complete === false;
  }

  get stage(): ConnectionStage {
    if (this.#request !== undefined || this.#hasAnswered) return 'request';
    return this.#reader.withinHead ? 'head' : 'accepted';
  }

  get isAnswered(): boolean {
    if (this.#hasAnswered || this.#response?.isBegun === true) return true;
    return this.takenOver && this.socket.bytesWritten > this.socket.writableLength;
  }

  /** Whether a request can be read, and its response be sent. */
  get #isOpen(): boolean {
    return this.#state === 'open' && this.socket.writable;
  }

  get date(): string {
    return this.#date();
  }

  get keepAlive(): boolean {
    return this.#state === 'open' && this.#request?.head.keepAlive === true;
  }

  /** The head did not arrive in time. */
  refuseSlowHead(): void {
    this.guard.run(() => {
      this.#refuse('slow_head');
    });
  }

  /** The server stops. Closes the connection, now if that loses no response that the caller has not read. */
  close(): void {
    if (!this.#lingers) this.guard.end('drained');
    else if (this.#state === 'open') this.#endAfterResponse();
  }

  responseSent(last: boolean): void {
    this.#response = undefined;
    this.#hasAnswered = true;
    if (last) this.#endAfterResponse();
    else {
      this.#forgetAnswered();
      // If this happens within `#read`, its loop continues.
      if (!this.#reading) this.#read();
    }
  }

  abort(): void {
    if (this.#request?.httpVersion === '1.0') abortConnection(this.socket);
    else this.socket.destroy();
  }

  holdBody(hold: boolean): void {
    this.#gate.hold(HOLD.body, hold);
  }

  dropped(bytes: number): void {
    this.#gate.dropped(bytes);
  }

  #received(bytes: Buffer): void {
    try {
      this.#gate.read(bytes.length);
      if (this.#state === 'open') {
        this.#ahead.add(bytes);
        this.#readAll();
      } else this.#linger.dropped(bytes.length);
    } catch (error) {
      this.guard.fail(error);
    }
  }

  /** An exception in a handler must not reach the caller, which may be the handler of the request before it. */
  #read(): void {
    this.guard.run(() => {
      this.#readAll();
    });
  }

  /** Reads what has arrived, as far as pending requests allow. On a connection that has failed, no request is read. */
  #readAll(): void {
    this.#reading = true;
    for (let requests = 0; this.#ahead.length > 0 && this.#isOpen; requests += 1) {
      if (this.#reader.idle && !this.#beginNext()) break;
      if (requests === REQUESTS_AT_ONCE) {
        setImmediate(() => {
          if (!this.#reading) this.#read();
        });
        break;
      }
      this.#readOne();
    }
    this.#reading = false;
    this.#ahead.keep();
    this.#gate.hold(HOLD.ahead, this.#ahead.length > MAX_AHEAD_BYTES);
  }

  #readOne(): void {
    const used = this.#reader.feed(this.#ahead.view);
    if (typeof used === 'string') {
      this.#refuse(used);
      return;
    }
    this.#ahead.skip(used);
    this.#gate.hadSmallChunks(this.#reader.smallChunks);
    if (this.#reader.withinHead) this.headSinceMs ??= this.#options.clock.monotonicMs();
    this.#dispatch();
  }

  /** Expects the next request, if the one before it is complete in both directions. */
  #beginNext(): boolean {
    if (this.#response !== undefined) return false;
    this.#reader.expect();
    return true;
  }

  #begin(head: RequestHead): void {
    this.headSinceMs = undefined;
    this.#request = new ServerRequest(head, this);
    this.#isDispatched = false;
  }

  /** Dispatches a request after the bytes that arrived with its head were read, often the whole request. */
  #dispatch(): void {
    const request = this.#request;
    if (request === undefined || this.#isDispatched) return;
    this.#isDispatched = true;
    const { head } = request;
    if (this.#options.takesOver(head)) {
      this.#handOver(request);
      return;
    }
    this.#response = new ServerResponse(head, this);
    this.#options.onRequest(request, this.#response);
  }

  /** An idle connection must not keep its last request, and all that hangs on it, in memory. */
  #forgetAnswered(): void {
    const isAnswered = this.#isDispatched && this.#response === undefined;
    if (isAnswered && this.#reader.idle) this.#request = undefined;
  }

  #handOver(request: ServerRequest): void {
    this.#state = 'taken_over';
    const { socket } = this;
    this.#gate.stop();
    this.#readBy(undefined);
    socket.off('end', this.#onEnd).off('drain', this.#onDrain);
    const ahead = toStayValid(this.#ahead.view);
    this.#ahead.clear();
    this.#options.onTakeOver(request, ahead);
  }

  /** The bytes are not HTTP, so nothing after them can be read (RFC 9112 section 2.2). */
  #refuse(reason: RefusalReason): void {
    this.#state = 'ending';
    this.#ahead.clear();
    this.headSinceMs = undefined;
    this.#options.refused(reason);
    if (reason === 'malformed_body') this.#failRequest();
    else this.#sendRefusal(reason);
  }

  #sendRefusal(reason: RefusalReason): void {
    this.#hasAnswered ||= this.socket.writable;
    sendRefusal(this.socket, this.#linger, this.#options, reason);
  }

  /** A malformed body fails its request, which gets its response and record like any other. */
  #failRequest(): void {
    const request = this.#request;
    request?.gone('malformed');
    if (request !== undefined && !this.#isDispatched) {
      if (this.#options.takesOver(request.head)) {
        this.#sendRefusal('malformed_body');
      } else this.#dispatch();
    } else if (this.#response === undefined) {
      // The response was sent before the body had arrived.
      this.#linger.begin('');
    } else if (this.#response.headersSent) {
      this.#abandon();
      this.socket.destroy();
    }
  }

  #endAfterResponse(): void {
    this.#state = 'ending';
    this.#ahead.clear();
    // More of a body with an unknown end may still arrive.
    const framing = this.#request?.framing;
    const whole = this.#reader.idle && framing !== undefined && !isUnreadable(framing);
    if (whole) this.socket.destroySoon();
    else this.#linger.begin('');
  }

  /** Tells the handler of a request that its response is not needed any more. */
  #abandon(): void {
    const response = this.#response;
    this.#hasAnswered ||= response?.isBegun === true;
    this.#response = undefined;
    try {
      this.#request?.gone('left');
    } finally {
      response?.gone();
    }
  }
}
