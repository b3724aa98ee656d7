import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { ERRORS_PATH } from '@gateway/shared/errors/error-content';
import type { RequestHandler } from 'express';
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
  const missing = (isBuilt: boolean) => {
    throw new GatewayError('not_found', isBuilt ? NO_SUCH_PAGE : NOT_BUILT);
  };
  const headers = { 'content-security-policy': POLICY };
  const page = staticFiles(responder, { folder, immutable: false, headers, missing });
  const asset = staticFiles(responder, { folder, immutable: true, missing });
  const toGuide: RequestHandler = (_request, response) => {
    responder.reply(response, { kind: 'redirect', location: GUIDE_PATH });
  };
  return [
    [REFERENCE_PATH, page],
    [ERRORS_PATH, page],
    [GUIDE_PATH, page],
    [`${REFERENCE_PATH}/api/:tag`, page],
    [`${GUIDE_PATH}/*page`, page],
    [`${REFERENCE_PATH}/assets/:file`, asset],
    [`${REFERENCE_PATH}/`, toGuide],
    [`${GUIDE_PATH}/`, toGuide],
  ];
}

const NO_SUCH_PAGE = 'The documentation has no such page; it begins at /docs/guide.';
const NOT_BUILT =
  'The documentation is not built yet. `npm start` builds it in the seconds after its banner; `npm run build` builds it alone.';
