import type { Clock } from '@gateway/shared/clock';
import type { AddressRanges } from '@gateway/shared/net/client-address';
import { hashTokenSecretBytes } from '@gateway/shared/tokens/secret';
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { callerView } from '../../tokens/token.ts';
import { createSession, deleteSessions } from '../../access/store/sessions.ts';
import type { Database } from '../../store/database.ts';
import { findToken } from '../../access/store/find-tokens.ts';
import type { Authenticator } from '../authenticate.ts';
import { parseInput } from '../input.ts';
import { jsonParser, readJson } from '../read-json.ts';
import { exchangeOf, noContent, ok, type Responder } from '../reply.ts';
import { isSecure, refuseForgedChange, refuseOtherOrigin } from './browser-request.ts';
import {
  createSessionId,
  hashSessionId,
  sessionCookie,
  sessionIdsOf,
} from '../../access/session-cookie.ts';

export interface SessionHandlerOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly authenticator: Authenticator;
  readonly trustedProxies: AddressRanges;
  readonly responder: Responder;
}

const MAX_BODY_BYTES = 4096;
const bodySchema = z.strictObject({ token: z.string('must be a string') });

/**
 * Signs a browser in and out. Signing in exchanges a token once for a session: the browser gets only the id of the session,
 * in a cookie that scripts cannot read. Neither is in a response body or in a log.
 */
export function sessionHandlers(
  options: SessionHandlerOptions,
): Readonly<Record<'signIn' | 'signOut', RequestHandler>> {
  const { db, clock, authenticator, trustedProxies, responder } = options;
  const parseJson = jsonParser(MAX_BODY_BYTES);

  function setCookie(response: Response, id: string | undefined, secure: boolean): void {
    response.setHeader('set-cookie', sessionCookie(id, secure));
  }

  async function endSessions(request: Request, secure: boolean): Promise<void> {
    const ids = sessionIdsOf(request.headers.cookie, secure);
    if (ids.length > 0) await deleteSessions(db, ids.map(hashSessionId));
  }

  return {
    async signIn(request, response) {
      refuseOtherOrigin(request, trustedProxies);
      const { token: secret } = parseInput(
        bodySchema,
        await readJson(request, response, parseJson),
      );
      const token = await authenticator.authenticateSecret(secret, exchangeOf(response));
      const secure = isSecure(request, trustedProxies);
      // Always a new id: one that the browser already had may be known to somebody else.
      const id = createSessionId();
      await endSessions(request, secure);
      await createSession(db, {
        idSha256: hashSessionId(id),
        tokenId: token.id,
        secretSha256: hashTokenSecretBytes(secret),
        now: new Date(clock.nowMs()),
      });
      const view = callerView(await findToken(db, token.id), token.expires_at);
      setCookie(response, id, secure);
      responder.reply(response, ok(view));
    },
    async signOut(request, response) {
      refuseForgedChange(request, trustedProxies);
      const secure = isSecure(request, trustedProxies);
      await endSessions(request, secure);
      setCookie(response, undefined, secure);
      responder.reply(response, noContent());
    },
  };
}
