import type { ServerExchange } from '@gateway/http/exchange';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { ContextOptions } from './context.ts';
import type { InFlight } from './in-flight.ts';
import type { IncomingBodyOptions } from './incoming-body.ts';
import type { Reached } from './reach-route.ts';
import type { RespondOptions } from './reply.ts';

/** What all requests have in common. */
export interface HandlerOptions {
  readonly contextOptions: ContextOptions & IncomingBodyOptions;
  readonly respond: RespondOptions;
  readonly inFlight: InFlight;
  readonly log: Logger;
  /** Called for each 103 that a caller who does not read fast enough does not get. */
  readonly hintsDropped: () => void;
}

/** Handles a request. */
export type RequestHandler = (exchange: ServerExchange, reached: Reached) => void;
