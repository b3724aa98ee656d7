import { OPENAPI_PATH } from '../openapi/document.ts';

export const REFERENCE_PATH = '/docs';
export const RENDERER_PATH = `${REFERENCE_PATH}/renderer.js`;
export const START_PATH = `${REFERENCE_PATH}/start.js`;

/**
 * What the page may load: only files of this server. The renderer sets styles from its script, so styles may be inline;
 * scripts may not.
 */
export const REFERENCE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';');

/** The page of the reference. */
export const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Gateway management API</title>
    <link rel="icon" href="data:," />
  </head>
  <body>
    <main id="reference"></main>
    <script src="${RENDERER_PATH}"></script>
    <script src="${START_PATH}"></script>
  </body>
</html>
`;

/**
 * Starts the renderer. Nothing is sent to another host: fonts are those of the system, and the functions that need a
 * service of the renderer's maker are off. The page sends no calls, because a token belongs on a server.
 */
export const START = `Scalar.createApiReference('#reference', ${JSON.stringify({
  url: OPENAPI_PATH,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideTestRequestButton: true,
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
  documentDownloadType: 'json',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
})});
`;
