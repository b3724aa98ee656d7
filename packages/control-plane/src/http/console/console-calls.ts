import type { AddressRanges } from '@gateway/shared/net/client-address';
import type { RequestHandler } from 'express';
import { exchangeOf } from '../reply.ts';
import { isSecure, refuseForgedChange } from './browser-request.ts';
import { sessionIdsOf } from '../../access/session-cookie.ts';

/** Below it, the management API accepts a session of the console in place of a token. */
const CALLS_PATH = '/console/api';

/**
 * Makes a call of `/console/api/v1/…` a call of `/v1/…` that may be authenticated by the cookie of the console. The cookie
 * counts nowhere else. A call with an `Authorization` field is one with a token, whatever its cookies.
 */
export function consoleCalls(trustedProxies: AddressRanges): RequestHandler {
  return (request, response, next) => {
    if (request.url.startsWith(`${CALLS_PATH}/v1/`)) {
      request.url = request.url.slice(CALLS_PATH.length);
      if (request.headers.authorization === undefined) {
        refuseForgedChange(request, trustedProxies);
        const secure = isSecure(request, trustedProxies);
        exchangeOf(response).sessionIds = sessionIdsOf(request.headers.cookie, secure);
      }
    }
    next();
  };
}
