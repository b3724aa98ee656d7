import type { RequestHandler } from 'express';
import helmet from 'helmet';

const ONE_YEAR_SECONDS = 365 * 24 * 60 * 60;

/**
 * Headers that restrict what a browser does with a response. The API returns data only: nothing in it may be run,
 * framed, sniffed or read by another site. There are no CORS headers, so browsers refuse cross-origin calls,
 * preflights included (Fetch standard section 3.2.5), because tokens belong on servers.
 */
export function securityHeaders(): RequestHandler {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    frameguard: { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
    // Browsers ignore it without TLS (RFC 6797 section 8.1).
    strictTransportSecurity: { maxAge: ONE_YEAR_SECONDS, includeSubDomains: false },
  });
}
