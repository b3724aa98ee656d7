import { statSync } from 'node:fs';
import type { AddressRanges } from '@gateway/shared/net/client-address';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { RequestHandler } from 'express';
import sirv from 'sirv';
import type { Responder } from '../reply.ts';
import { consolePageLoader } from './console-page.ts';
import { sessionHandlers, type SessionHandlerOptions } from './session-handlers.ts';

export const CONSOLE_PATH = '/console';
const SESSION_PATH = `${CONSOLE_PATH}/session`;
const ASSETS_PATH = `${CONSOLE_PATH}/assets`;
const ONE_YEAR_S = 365 * 24 * 60 * 60;

export interface ConsoleOptions extends Omit<SessionHandlerOptions, 'responder'> {
  readonly trustedProxies: AddressRanges;
  /** The folder with the built console, whose paths are those of the URLs. */
  readonly consoleFolder: string;
}

type PathHandlers = readonly [path: string, handlers: readonly [method: string, RequestHandler][]];

/** The handlers of the console: its page, its files and its sessions. The page itself needs no token. */
export function consoleHandlers(
  responder: Responder,
  options: ConsoleOptions,
): readonly PathHandlers[] {
  const { consoleFolder } = options;
  const { signIn, signOut } = sessionHandlers({ ...options, responder });
  const page = pageHandler(responder, consoleFolder);
  return [
    [
      SESSION_PATH,
      [
        ['POST', signIn],
        ['DELETE', signOut],
      ],
    ],
    [`${ASSETS_PATH}/*file`, [['GET', assetHandler(responder, consoleFolder)]]],
    [CONSOLE_PATH, [['GET', page]]],
    [`${CONSOLE_PATH}/`, [['GET', page]]],
    // The script of the page decides what a path shows, so that each page has a URL.
    [`${CONSOLE_PATH}/*page`, [['GET', page]]],
  ];
}

function pageHandler(responder: Responder, folder: string): RequestHandler {
  const loadPage = consolePageLoader(folder);
  return async (_request, response) => {
    const { content, policy } = await loadPage();
    responder.reply(
      response,
      { kind: 'document', content, type: 'text/html; charset=utf-8' },
      { 'content-security-policy': policy, 'cache-control': 'no-cache' },
    );
  };
}

/**
 * Serves the built files, which have their hash in their name, compressed where the browser accepts it. Another build has
 * replaced the folder: its files are served then, and the ones before are missing.
 */
function assetHandler(responder: Responder, folder: string): RequestHandler {
  let serve: ReturnType<typeof sirv> | undefined;
  let served: string | undefined;
  return (request, response) => {
    const missing = () => {
      throw new GatewayError('not_found', 'The console has no such file.');
    };
    const present = statSync(folder, { throwIfNoEntry: false });
    if (present === undefined) return missing();
    // The files are listed once. A listed file that is gone would be an error that nobody can catch.
    const build = `${present.ino} ${present.mtimeMs}`;
    if (serve === undefined || served !== build) {
      served = build;
      serve = sirv(folder, {
        brotli: true,
        gzip: true,
        etag: true,
        maxAge: ONE_YEAR_S,
        immutable: true,
      });
    }
    responder.prepare(response);
    serve(request, response, missing);
  };
}
