import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { ERRORS_PATH } from '@gateway/shared/errors/error-content';
import { prefersNamed } from '@gateway/shared/http/accept';
import type { RequestHandler, Response } from 'express';
import { staticFiles } from '../static-files.ts';
import type { Responder } from '../reply.ts';

/** The reference of the API. */
const REFERENCE_PATH = '/docs';
/** The documentation. */
const GUIDE_PATH = `${REFERENCE_PATH}/guide`;

/**
 * What the pages may load: only files of this server. No script and no style is in a page. `connect-src` is for the index of the
 * search, and for calls under the session of the console.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';');

/** The handlers of GET for the documentation and the reference of the API, by path. They need no token. */
export function docsHandlers(
  responder: Responder,
  folder: string,
): readonly (readonly [path: string, RequestHandler])[] {
  const headers = { 'content-security-policy': POLICY };
  const missing = (isBuilt: boolean, response: Response) => {
    const error = new GatewayError('not_found', isBuilt ? NO_SUCH_PAGE : NOT_BUILT);
    const { accept = '' } = response.req.headers;
    const page = prefersNamed(accept, 'text/html', 'application/json')
      ? readPage(path.join(folder, NOT_FOUND_FILE))
      : undefined;
    if (page === undefined) throw error;
    responder.errorPage(response, error, page, headers);
  };
  const page = staticFiles(responder, { folder, immutable: false, headers, missing });
  const asset = staticFiles(responder, { folder, immutable: true, missing });
  const toGuide: RequestHandler = (_request, response) => {
    responder.reply(response, { kind: 'redirect', location: GUIDE_PATH });
  };
  const nothing: RequestHandler = (_request, response) => missing(existsSync(folder), response);
  return [
    [REFERENCE_PATH, page],
    [ERRORS_PATH, page],
    [GUIDE_PATH, page],
    [`${REFERENCE_PATH}/api/:tag`, page],
    [`${GUIDE_PATH}/*page`, page],
    [`${REFERENCE_PATH}/assets/:file`, asset],
    [`${REFERENCE_PATH}/`, toGuide],
    [`${GUIDE_PATH}/`, toGuide],
    [`${REFERENCE_PATH}/*page`, nothing],
  ];
}

/** undefined: an older build has none. It is read when it is needed, because a build may have replaced it. */
function readPage(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** The page for addresses that have none. It is at no address itself. */
const NOT_FOUND_FILE = 'docs/not-found.html';

const NO_SUCH_PAGE = 'The documentation has no such page; it begins at /docs/guide.';
const NOT_BUILT =
  'The documentation is not built yet. `npm start` builds it in the seconds after its banner; `npm run build` builds it alone.';
