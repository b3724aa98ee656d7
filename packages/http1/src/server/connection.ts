import type { Socket } from 'node:net';
import { breakOff } from './break-off.ts';
import { toKeep } from '../message/read-buffer.ts';
import type { ReadSocket } from './direct-reads.ts';
import { Linger } from './linger.ts';
import { MessageReader, type MalformedReason } from '../message/message-reader.ts';
import { HELD, ReadGate } from './read-gate.ts';
import type { RequestHead } from '../message/request-head.ts';
import { ServerRequest } from './request.ts';
import { ServerResponse } from './response.ts';
import type { Http1Options } from './options.ts';

/** What a caller may send ahead of its turn before its connection is no longer read. */
const MAX_AHEAD_BYTES = 64 * 1024;
/** So many requests of one connection are answered at once; then others have their turn. */
const REQUESTS_AT_ONCE = 16;

/**
 * One connection of a caller, with one request at a time on it (RFC 9112 section 9.3): what is sent
 * ahead waits, unread from a bound on, until the response before it is out.
 */
export class ServerConnection {
  readonly socket: Socket;
  /** When the first byte of a head came that is not complete, or the connection; ms, monotonic. */
  headSinceMs: number | undefined;
  readonly #readBy: ReadSocket['readBy'];
  readonly #options: Http1Options;
  readonly #reader: MessageReader;
  readonly #gate: ReadGate;
  readonly #linger: Linger;
  #request: ServerRequest | undefined = undefined;
  #response: ServerResponse | undefined = undefined;
  #head: RequestHead | undefined = undefined;
  /** The head of the request that was handed on last. */
  #dispatched: RequestHead | undefined = undefined;
  #ahead: Buffer | undefined = undefined;
  /** `ending`: nothing that comes is a request any more. `handed_over`: it is somebody else's. */
  #state: 'open' | 'ending' | 'handed_over' = 'open';
  #reading = false;
  readonly #onEnd = () => {
    // A caller that ends its side before it is answered has left.
    this.socket.destroy();
  };
  readonly #onDrain = () => {
    this.#response?.drained();
  };

  constructor({ socket, readBy }: ReadSocket, options: Http1Options) {
    this.socket = socket;
    this.#readBy = readBy;
    this.#options = options;
    this.#gate = new ReadGate(socket, options.clock);
    this.#linger = new Linger(socket, this.#gate, options);
    this.headSinceMs = options.clock.monotonicMs();
    this.#reader = new MessageReader(
      {
        head: (head) => {
          this.#begin(head);
        },
        body: (bytes) => this.#request?.received(toKeep(bytes)),
        wholeBody: (text) => this.#request?.receivedWhole(text),
        end: () => this.#request?.ended(),
      },
      options,
    );
    readBy((bytes) => {
      this.#received(bytes);
    });
    socket.on('end', this.#onEnd).on('drain', this.#onDrain);
    socket.on('error', (error) => this.#response?.failed(error));
    socket.once('close', () => {
      this.#linger.stop();
      this.#gate.stop();
      this.#state = 'ending';
      this.#ahead = undefined;
      this.#giveUp();
    });
  }

  /** Whether it owes a response. */
  get busy(): boolean {
    return this.#response !== undefined;
  }

  get handedOver(): boolean {
    return this.#state === 'handed_over';
  }

  get date(): string {
    return this.#options.date();
  }

  get keepAlive(): boolean {
    return this.#state === 'open' && this.#head?.keepAlive === true;
  }

  /** The head did not arrive in time. */
  refuseSlowHead(): void {
    this.#refuse('slow_head');
  }

  responseSent(last: boolean): void {
    this.#response = undefined;
    if (last) this.#endAfterResponse();
    // Within `#read` the loop goes on by itself.
    else if (!this.#reading) this.#read();
  }

  breakOff(): void {
    if (this.#head?.httpVersion === '1.0') breakOff(this.socket);
    else this.socket.destroy();
  }

  holdBody(hold: boolean): void {
    this.#gate.hold(HELD.body, hold);
  }

  dropped(bytes: number): void {
    this.#gate.dropped(bytes);
  }

  #received(bytes: Buffer): void {
    this.#gate.read(bytes.length);
    if (this.#state !== 'open') {
      this.#linger.passedOver(bytes.length);
      return;
    }
    this.#ahead = this.#ahead === undefined ? bytes : Buffer.concat([this.#ahead, bytes]);
    this.#read();
  }

  /** Reads on in what has come, as far as the requests on it allow. */
  #read(): void {
    this.#reading = true;
    for (let requests = 0; this.#ahead !== undefined && this.#state === 'open'; requests += 1) {
      if (this.#reader.over && !this.#mayGoOn()) break;
      if (requests === REQUESTS_AT_ONCE) {
        setImmediate(() => {
          if (!this.#reading) this.#read();
        });
        break;
      }
      this.#readOne(this.#ahead);
    }
    this.#reading = false;
    this.#ahead &&= toKeep(this.#ahead);
    this.#gate.hold(HELD.ahead, (this.#ahead?.length ?? 0) > MAX_AHEAD_BYTES);
  }

  #readOne(bytes: Buffer): void {
    this.#ahead = undefined;
    const used = this.#reader.feed(bytes);
    if (typeof used === 'string') {
      this.#refuse(used);
      return;
    }
    if (used < bytes.length) this.#ahead = bytes.subarray(used);
    this.#gate.hadSmallChunks(this.#reader.smallChunks);
    if (this.#reader.withinHead) this.headSinceMs ??= this.#options.clock.monotonicMs();
    this.#dispatch();
  }

  /** Whether the next request may be read: the one before it is over in both directions. */
  #mayGoOn(): boolean {
    if (this.#response !== undefined) return false;
    this.#request = undefined;
    this.#reader.next();
    return true;
  }

  #begin(head: RequestHead): void {
    this.headSinceMs = undefined;
    this.#head = head;
    this.#request = new ServerRequest(head, this);
  }

  /** Hands a request on once what came with its head has been read, which often is all of it. */
  #dispatch(): void {
    const head = this.#head;
    const request = this.#request;
    if (head === undefined || request === undefined || this.#dispatched === head) return;
    this.#dispatched = head;
    if (this.#options.takesOver(head)) {
      this.#handOver(request);
      return;
    }
    this.#response = new ServerResponse(head, this);
    this.#options.onRequest(request, this.#response);
  }

  #handOver(request: ServerRequest): void {
    this.#state = 'handed_over';
    const { socket } = this;
    this.#gate.stop();
    this.#readBy(undefined);
    socket.off('end', this.#onEnd).off('drain', this.#onDrain);
    const ahead = toKeep(this.#ahead ?? Buffer.alloc(0));
    this.#ahead = undefined;
    this.#options.onTakeOver(request, ahead);
  }

  /** What came is no HTTP: nothing after it can be told apart (RFC 9112 section 2.2). */
  #refuse(reason: MalformedReason): void {
    this.#state = 'ending';
    this.#ahead = undefined;
    this.headSinceMs = undefined;
    this.#options.refused(reason);
    if (reason === 'malformed_body') this.#breakRequest();
    else this.#answerMalformed(reason);
  }

  /** Where a body is none its request fails, and is answered and recorded as any other, under its own id. */
  #breakRequest(): void {
    const head = this.#head;
    this.#request?.gone('malformed');
    if (head !== undefined && this.#dispatched !== head) {
      if (this.#options.takesOver(head)) this.#answerMalformed('malformed_body');
      else this.#dispatch();
    } else if (this.#response === undefined) {
      // It was answered before its body had come.
      this.#linger.begin('');
    } else if (this.#response.headersSent) {
      this.#giveUp();
      this.socket.destroy();
    }
  }

  #answerMalformed(reason: MalformedReason): void {
    if (!this.socket.writable) this.socket.destroy();
    else this.#linger.begin(this.#options.malformed(reason, this.socket.remoteAddress ?? ''));
  }

  #endAfterResponse(): void {
    this.#state = 'ending';
    this.#ahead = undefined;
    // Of a body whose end is unknown more may be on its way.
    const whole = this.#reader.over && this.#head?.framing.kind !== 'unknown';
    if (whole) this.socket.destroySoon();
    else this.#linger.begin('');
  }

  /** Whoever is at work on a request learns that nobody waits for it any more. */
  #giveUp(): void {
    const response = this.#response;
    this.#response = undefined;
    this.#request?.gone('left');
    response?.gone();
  }
}
