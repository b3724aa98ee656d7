import { prefersNamed } from '@gateway/shared/http/accept';
import type { RequestHandler } from 'express';
import { exchangeOf, type Responder } from '../reply.ts';
import { CONSOLE_PATH } from './console-handlers.ts';

/** Leads a browser that opens the address of the gateway to the console. To everybody else there is nothing at `/`. */
export function browserStart(responder: Responder): RequestHandler {
  return (request, response, next) => {
    const { accept = '' } = request.headers;
    if (!prefersNamed(accept, 'text/html', 'application/json')) {
      next();
      return;
    }
    exchangeOf(response).pattern = '/';
    responder.reply(response, { kind: 'redirect', location: CONSOLE_PATH }, { vary: 'Accept' });
  };
}
