import type { SharedClientConnection, SharedConnectionOwner } from '@gateway/http/exchange';
import type { Clock } from '@gateway/shared/clock';

const SWEEP_MS = 1_000;

/** What a pool learns of its shared connections. */
export interface SharedConnectionEvents {
  internalError(error: unknown): void;
  /** One of them takes an exchange again. */
  sharedFreed(): void;
  /** One of them is closed, or takes no further exchange. */
  lost(): void;
  /** Whether a connection may be opened in the place of one that then only ends what it carries. */
  readonly mayReplace: boolean;
}

interface Open {
  readonly connection: SharedClientConnection;
  /** No exchange starts on it after this time; ms, monotonic. */
  readonly retiresAtMs: number;
  /** Whether its server has said how many exchanges it takes. */
  isKnown: boolean;
}

/** What a connection is expected to take until a server has said it: the least that RFC 9113 section 6.5.2 recommends. */
const USUAL_EXCHANGES = 100;
/**
 * After so many resets a connection takes no further exchange. Servers end a connection that resets too many streams, with
 * the streams of all callers (CVE-2023-44487): Netty after 200 in 30 s, this gateway after 600 in a minute, Node after 1000.
 * The streams that it still carries, at most 100, may be reset too.
 */
export const MAX_RESETS = 100;

/**
 * The connections of a pool that carry several exchanges at one time, as HTTP/2 does. The one that was opened first is
 * filled first, so that surplus connections stay without an exchange and are closed. The engine closes those.
 */
export class SharedConnections implements SharedConnectionOwner {
  readonly host: string;
  readonly #clock: Clock;
  readonly #events: SharedConnectionEvents;
  /** How many exchanges a connection takes, as the server said last. */
  #allowed: number | undefined = undefined;
  /** In the order in which they were opened. */
  #open: Open[] = [];
  /** Those that take no further exchange, until the last of theirs has ended. */
  readonly #ending = new Set<SharedClientConnection>();
  #sweeping = false;

  constructor(host: string, clock: Clock, events: SharedConnectionEvents) {
    this.host = host;
    this.#clock = clock;
    this.#events = events;
  }

  /** How many take exchanges. */
  get size(): number {
    return this.#open.length;
  }

  /** How many only end what they carry. */
  get ending(): number {
    return this.#ending.size;
  }

  /** How many exchanges they carry. */
  get carried(): number {
    let sum = 0;
    for (const { connection } of this.#open) sum += connection.carried;
    for (const connection of this.#ending) sum += connection.carried;
    return sum;
  }

  /** How many exchanges a new connection will carry. */
  get expected(): number {
    return this.#allowed ?? USUAL_EXCHANGES;
  }

  /** How many further exchanges they will take. */
  get free(): number {
    let sum = 0;
    for (const { connection, isKnown } of this.#open) {
      const { free } = connection;
      sum += isKnown ? free : Math.max(0, Math.min(free, this.expected - connection.carried));
    }
    return sum;
  }

  /** Whether one of them takes an exchange now. */
  get isFree(): boolean {
    return this.#open.some((one) => this.#takes(one));
  }

  /**
   * Whether it takes an exchange now. Before its server has said how many it takes, it gets as many as the last one took,
   * and the first one gets one: what exceeds the limit of the server would be refused.
   */
  #takes({ connection, isKnown }: Open): boolean {
    return connection.free > 0 && (isKnown || connection.carried < (this.#allowed ?? 1));
  }

  /** @param retiresAtMs no exchange starts on it after this time; ms, monotonic */
  add(connection: SharedClientConnection, retiresAtMs: number): void {
    this.#open.push({ connection, retiresAtMs, isKnown: false });
    this.#sweepLater();
  }

  /** A connection that takes an exchange. */
  take(): SharedClientConnection | undefined {
    for (let index = 0; index < this.#open.length; index += 1) {
      const one = this.#open[index];
      if (one === undefined || !this.#takes(one)) continue;
      const { connection } = one;
      const isWorn = connection.resets >= MAX_RESETS && this.#events.mayReplace;
      if (!isWorn && this.#clock.monotonicMs() < one.retiresAtMs) return connection;
      this.#end(connection, isWorn);
      index -= 1;
    }
    return undefined;
  }

  /** They take no further exchange, and close when those that they carry have ended. */
  retire(): void {
    for (const { connection } of [...this.#open]) this.#end(connection);
  }

  /** Closes all of them now. */
  destroy(): void {
    for (const { connection } of [...this.#open]) connection.destroy();
    for (const connection of [...this.#ending]) connection.destroy();
  }

  limitKnown(connection: SharedClientConnection): void {
    const one = this.#open.find((open) => open.connection === connection);
    if (one !== undefined) one.isKnown = true;
    this.freed(connection);
  }

  freed(connection: SharedClientConnection): void {
    this.#allowed = connection.free + connection.carried;
    this.#events.sharedFreed();
  }

  announcedEnd(connection: SharedClientConnection): void {
    if (this.#remove(connection)) this.#ending.add(connection);
    this.#events.lost();
  }

  closed(connection: SharedClientConnection): void {
    this.#remove(connection);
    this.#ending.delete(connection);
    this.#events.lost();
  }

  internalError(error: unknown): void {
    this.#events.internalError(error);
  }

  #remove(connection: SharedClientConnection): boolean {
    const before = this.#open.length;
    this.#open = this.#open.filter((one) => one.connection !== connection);
    return this.#open.length < before;
  }

  /** What closes at once is in none of the lists any more when `retire` returns. */
  #end(connection: SharedClientConnection, isWorn = false): void {
    this.#remove(connection);
    this.#ending.add(connection);
    if (isWorn) connection.retireForResets();
    else connection.retire();
  }

  #sweepLater(): void {
    if (this.#sweeping || this.#open.length === 0) return;
    this.#sweeping = true;
    this.#clock.setTimer(SWEEP_MS, () => {
      this.#sweeping = false;
      const before = this.#open.length;
      const nowMs = this.#clock.monotonicMs();
      for (const { connection, retiresAtMs } of [...this.#open]) {
        if (connection.isRetired || nowMs >= retiresAtMs) this.#end(connection);
      }
      this.#sweepLater();
      if (this.#open.length < before) this.#events.lost();
    });
  }
}
