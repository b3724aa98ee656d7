import type { FixedWindow } from '@gateway/shared/fixed-window';
import type { Response } from 'express';

/** What is known of a management call from its arrival to its end. */
export interface Exchange {
  readonly requestId: string;
  /** Monotonic, ms. */
  readonly arrivedMs: number;
  readonly clientAddress: string;
  /** What the rate-limit headers tell; the client's allowance until a token is known. */
  window: FixedWindow;
  /** The pattern of the path, for metrics; a path as it came would make a series for each id. */
  pattern: string | undefined;
  tokenId: string | undefined;
  /** Aborts when the client leaves before its answer is complete. */
  readonly signal: AbortSignal;
}

export function setExchange(response: Response, exchange: Exchange): void {
  response.locals['exchange'] = exchange;
}

/** The exchange of this response, which the first middleware sets. */
export function exchangeOf(response: Response): Exchange {
  return response.locals['exchange'] as Exchange;
}
