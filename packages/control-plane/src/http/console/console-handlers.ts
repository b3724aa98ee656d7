import type { AddressRanges } from '@gateway/shared/net/client-address';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { RequestHandler } from 'express';
import type { Responder } from '../reply.ts';
import { staticFiles } from '../static-files.ts';
import { consolePageLoader } from './console-page.ts';
import { sendHandlers, type SendHandlerOptions } from './send-handlers.ts';
import { sessionHandlers, type SessionHandlerOptions } from './session-handlers.ts';

export const CONSOLE_PATH = '/console';
const SESSION_PATH = `${CONSOLE_PATH}/session`;
const SEND_PATH = `${CONSOLE_PATH}/send`;
const ASSETS_PATH = `${CONSOLE_PATH}/assets`;

export interface ConsoleOptions
  extends Omit<SessionHandlerOptions, 'responder'>, Omit<SendHandlerOptions, 'responder'> {
  readonly trustedProxies: AddressRanges;
  /** The folder with the built console, whose paths are those of the URLs. */
  readonly consoleFolder: string;
}

type PathHandlers = readonly [path: string, handlers: readonly [method: string, RequestHandler][]];

/** The handlers of the console: its page, its files, its sessions and the requests that it sends. The page itself needs no token. */
export function consoleHandlers(
  responder: Responder,
  options: ConsoleOptions,
): readonly PathHandlers[] {
  const { consoleFolder } = options;
  const { signIn, signOut } = sessionHandlers({ ...options, responder });
  const { state, send } = sendHandlers({ ...options, responder });
  const page = pageHandler(responder, consoleFolder);
  const asset = staticFiles(responder, {
    folder: consoleFolder,
    immutable: true,
    missing() {
      throw new GatewayError('not_found', 'The console has no such file.');
    },
  });
  return [
    [
      SESSION_PATH,
      [
        ['POST', signIn],
        ['DELETE', signOut],
      ],
    ],
    [
      SEND_PATH,
      [
        ['GET', state],
        ['POST', send],
      ],
    ],
    [`${ASSETS_PATH}/*file`, [['GET', asset]]],
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
