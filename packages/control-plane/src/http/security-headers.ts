import type { RequestHandler } from 'express';
import helmet from 'helmet';

const ONE_YEAR_SECONDS = 365 * 24 * 60 * 60;

/**
 * The headers that tell a browser to do as little as can be with an answer of the API: it is data, so
 * nothing in it is to be run, framed, guessed at or read by another site. No answer names an origin
 * that may read it, so CORS stays closed, preflights included (Fetch standard section 3.2.5): tokens
 * are kept on servers.
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
    // Browsers heed it over TLS only (RFC 6797 section 8.1).
    strictTransportSecurity: { maxAge: ONE_YEAR_SECONDS, includeSubDomains: false },
  });
}
