import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { ConnectionGuard } from '../../connection-guard.ts';
import type { HeaderFields } from '../../fields/header-fields.ts';
import { isUnreadable } from '../../message/framing.ts';
import type { BodyBytes } from '../../message/body-bytes.ts';
import { MessageReader, type MessageEvents } from '../../message/message-reader.ts';
import type { RequestHead } from '../../message/request-head.ts';
import type { ReadSocket } from '../../sockets/read-socket.ts';
import { Http1Exchange, type ExchangeConnection } from './exchange.ts';
import type { ConnectionProgress, ConnectionStage } from './connection-progress.ts';
import { Linger } from './linger.ts';
import type { RefusalReason, ServerOptions, ServerState } from './options.ts';
import { HOLD, ReadGate, UnreadBytes } from './read-gate.ts';

/** A connection is not read while more than this has arrived before its turn. */
const MAX_AHEAD_BYTES = 64 * 1024;
/** How many requests of one connection are handled before other connections get their turn. */
const REQUESTS_AT_ONCE = 16;

/**
 * One connection of a caller, with one request at a time (RFC 9112 section 9.3). Bytes that arrive early wait until the
 * response before them was sent; above a limit the connection is not read.
 */
export class ServerConnection
  implements ConnectionProgress, ExchangeConnection, MessageEvents<RequestHead>
{
  readonly socket: Socket;
  readonly address: string;
  place = 0;
  /** For what handles its requests. */
  readonly guard: ConnectionGuard;
  /** When the wait for the rest of a head, or for the first request, started; ms, monotonic. */
  headSinceMs: number | undefined;
  /** Whether a response is pending. */
  busy = false;
  readonly gate: ReadGate;
  readonly date: () => string;
  readonly #options: ServerOptions;
  readonly #reader: MessageReader<RequestHead>;
  readonly #linger: Linger;
  /** The last one; undefined once both its request and its response are over. */
  #exchange: Http1Exchange | undefined = undefined;
  /** Whether it was passed on. */
  #isDispatched = false;
  #error: Error | undefined = undefined;
  /** Whether a response was sent; the response that is pending may have begun. */
  #hasAnswered = false;
  /** Bytes that have arrived and are not read yet. */
  readonly #ahead = new UnreadBytes();
  /** `ending`: bytes that arrive are not read as a request. `tunnel`: they belong to another protocol. */
  #state: 'open' | 'ending' | 'tunnel' = 'open';
  #reading = false;

  constructor({ socket, address, readBy }: ReadSocket, options: ServerOptions, state: ServerState) {
    this.socket = socket;
    this.address = address;
    this.#options = options;
    this.date = state.date;
    this.guard = new ConnectionGuard(socket, options.internalError);
    this.gate = new ReadGate(socket, options.clock);
    this.#linger = new Linger(socket, this.gate, options);
    this.headSinceMs = options.clock.monotonicMs();
    this.#reader = new MessageReader(state.syntax, this, options);
    this.#reader.expect();
    readBy((bytes) => {
      this.#received(bytes);
    });
    socket.on('error', (error) => (this.#error = error));
    socket.on('drain', () => {
      this.guard.run(() => this.#exchange?.drained());
    });
    socket.on('end', () => {
      this.guard.run(() => {
        if (this.#state === 'tunnel') this.#exchange?.body.received('', true);
        // A caller that closes its side before the response was sent has left.
        else socket.destroy();
      });
    });
    socket.on('close', () => {
      this.guard.run(() => {
        this.#closed();
      });
    });
  }

  get isSecure(): boolean {
    return this.socket instanceof TLSSocket;
  }

  /** Whether the response was sent and the caller may still be sending, so that a close could destroy the response. */
  get #lingers(): boolean {
    if (this.busy) return false;
    const exchange = this.#exchange;
    return (
      this.#state === 'ending' || (exchange !== undefined && exchange.body.ended !== 'complete')
    );
  }

  get stage(): ConnectionStage {
    if (this.#exchange !== undefined || this.#hasAnswered) return 'request';
    return this.#reader.withinHead ? 'head' : 'accepted';
  }

  get isAnswered(): boolean {
    return this.#hasAnswered || (this.busy && this.#exchange?.isBegun === true);
  }

  get keepAlive(): boolean {
    return this.#state === 'open' && this.#exchange?.head.keepAlive === true;
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
    this.busy = false;
    this.#hasAnswered = true;
    if (last) this.#endAfterResponse();
    else {
      const body = this.#exchange?.body;
      const isWhole = body === undefined || body.ended === 'complete';
      if (!isWhole && !this.socket.destroyed) this.#linger.discard(body);
      this.#forgetAnswered();
      // If this happens within `#read`, its loop continues. Else it is often within a read of the upstream's connection,
      // which is free for the next request when that has ended.
      if (!this.#reading && this.#ahead.length > 0) process.nextTick(() => this.#read());
    }
  }

  #received(bytes: Buffer): void {
    try {
      this.gate.read(bytes.length);
      if (this.#state === 'open') {
        this.#ahead.add(bytes);
        this.#readAll();
      } else if (this.#state === 'tunnel') this.#exchange?.body.received(bytes, false);
      else this.#linger.dropped(bytes.length);
    } catch (error) {
      this.guard.fail(error);
    }
  }

  becomeTunnel(): void {
    this.#state = 'tunnel';
    this.socket.setKeepAlive(true);
    const early = this.#ahead.view;
    this.#ahead.clear();
    this.gate.hold(HOLD.ahead, false);
    if (early.length > 0) this.#exchange?.body.received(early, false);
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
    const { socket } = this;
    for (let requests = 0; this.#ahead.length > 0; requests += 1) {
      if (this.#state !== 'open' || !socket.writable) break;
      if (this.#reader.idle) {
        // The request before it is not complete in both directions.
        if (this.busy) break;
        this.#reader.expect();
      }
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
    this.gate.hold(HOLD.ahead, this.#ahead.length > MAX_AHEAD_BYTES);
  }

  #readOne(): void {
    const used = this.#reader.feed(this.#ahead.view);
    if (typeof used === 'string') {
      this.#refuse(used);
      return;
    }
    this.#ahead.skip(used);
    this.gate.hadSmallChunks(this.#reader.smallChunks);
    if (this.#reader.withinHead) this.headSinceMs ??= this.#options.clock.monotonicMs();
    this.#dispatch();
  }

  head(head: RequestHead): void {
    this.headSinceMs = undefined;
    this.#exchange = new Http1Exchange(head, this);
    this.#isDispatched = false;
  }

  body(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    this.#exchange?.body.received(bytes, last, trailers);
    if (!last) return;
    this.#linger.bodyEnded();
    this.#forgetAnswered();
  }

  /** Dispatches a request after the bytes that arrived with its head were read, often the whole request. */
  #dispatch(): void {
    const exchange = this.#exchange;
    if (exchange === undefined || this.#isDispatched) return;
    this.#isDispatched = true;
    this.busy = true;
    this.#options.onExchange(exchange);
  }

  /** An idle connection must not keep its last request, and all that hangs on it, in memory. */
  #forgetAnswered(): void {
    const isAnswered = this.#isDispatched && !this.busy;
    if (isAnswered && this.#reader.idle) this.#exchange = undefined;
  }

  /** The bytes are not HTTP, so nothing after them can be read (RFC 9112 section 2.2). */
  #refuse(reason: RefusalReason): void {
    this.#state = 'ending';
    this.#ahead.clear();
    this.headSinceMs = undefined;
    this.#options.refused(reason);
    if (reason === 'malformed_body') this.#failRequest();
    else {
      this.#hasAnswered ||= this.socket.writable;
      this.#linger.refuse(reason, this.address);
    }
  }

  /** A malformed body fails its request, which gets its response and record like any other. */
  #failRequest(): void {
    const exchange = this.#exchange;
    exchange?.body.fail('malformed');
    if (exchange !== undefined && !this.#isDispatched) this.#dispatch();
    else if (!this.busy) {
      // The response was sent before the body had arrived.
      this.#linger.begin('');
    } else if (exchange?.hasResponded === true) {
      this.#abandon();
      this.socket.destroy();
    }
  }

  #endAfterResponse(): void {
    this.#state = 'ending';
    // More of a body with an unknown end may still arrive, and more requests of a caller that has sent some.
    const framing = this.#exchange?.head.framing;
    const isKnown = this.#reader.idle && framing !== undefined && !isUnreadable(framing);
    const isWhole = isKnown && this.#ahead.length === 0;
    this.#ahead.clear();
    if (!isWhole) this.#linger.begin('');
    // TLS ends with a closure alert. Without TLS the system sends the rest, and a half close before it would cost a call.
    else if (this.isSecure) this.socket.destroySoon();
    else this.socket.destroy();
  }

  #closed(): void {
    this.#linger.stop();
    this.gate.stop();
    this.#state = 'ending';
    this.#ahead.clear();
    this.#abandon();
  }

  /** Tells the handler of a request that its response is not needed any more. */
  #abandon(): void {
    const exchange = this.#exchange;
    if (exchange === undefined || !this.#isDispatched) return;
    this.#hasAnswered ||= this.busy && exchange.isBegun;
    try {
      exchange.body.fail('peer_left');
    } finally {
      if (this.busy) {
        this.busy = false;
        exchange.gone(this.#error);
      }
    }
  }
}
