import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { GatewayError } from '@gateway/shared/errors/gateway-error';

/** What the built page has in place of the nonce of a response. */
const NONCE_PLACEHOLDER = '__NONCE__';

/** The page of one response, and the policy that belongs to it. */
export interface ConsolePage {
  readonly content: string;
  readonly policy: string;
}

/**
 * What the page may load: only files of this server. The component kit writes its variables into `<style>` elements, so
 * styles need the nonce of the response; scripts are never inline.
 */
function policyFor(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join(';');
}

/** Makes the page of one response. It is read each time, because another build has a page of its own. */
export function consolePageLoader(folder: string): () => Promise<ConsolePage> {
  return async () => {
    let page: string;
    try {
      page = await readFile(`${folder}/console/index.html`, 'utf8');
    } catch (error) {
      throw notBuilt(error);
    }
    const nonce = randomBytes(16).toString('base64url');
    return { content: page.replaceAll(NONCE_PLACEHOLDER, nonce), policy: policyFor(nonce) };
  };
}

function notBuilt(cause: unknown): GatewayError {
  const message =
    'The console is not built yet. `npm start` builds it in the seconds after its banner; `npm run build` builds it alone.';
  return new GatewayError('not_found', message, { cause });
}
