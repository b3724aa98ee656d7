import { isUtf8 } from 'node:buffer';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { repeatedNameAt } from './repeated-name.ts';
import express, { type Request, type RequestHandler, type Response } from 'express';

const JSON_TYPES = ['application/json', 'application/*+json'];

/** Reads JSON bodies of at most this size. */
export function jsonParser(maxBytes: number): RequestHandler {
  return express.json({
    limit: maxBytes,
    type: JSON_TYPES,
    verify: refuseAmbiguous,
  }) as RequestHandler;
}

/**
 * JSON is UTF-8 (RFC 8259 section 8.1), and a name occurs once in an object (RFC 7493 section 2.3). The parser would
 * silently replace invalid bytes, and drop the first value: another credential or limit than the caller's would be stored.
 */
function refuseAmbiguous(
  _request: unknown,
  _response: unknown,
  body: Buffer,
  charset: string,
): void {
  if (charset !== 'utf-8') throw namedError('charset.unsupported');
  if (!isUtf8(body)) throw namedError('body.not.utf8');
  const offset = repeatedNameAt(body);
  if (offset !== undefined) throw Object.assign(namedError('body.name.repeated'), { offset });
}

/** An error like those of the body parser. to-gateway-error.ts maps both. */
function namedError(type: string): Error {
  return Object.assign(new Error(type), { type });
}

/** Another label of UTF-8 (WHATWG Encoding section 4.2), which the parser does not know. */
const UTF8_LABEL = /(;[ \t]*charset=)"?utf8"?(?=[ \t]*(?:;|$))/i;

/**
 * The JSON body of a request.
 *
 * @throws GatewayError unsupported_media_type, or an error of the parser, which to-gateway-error.ts maps
 */
export async function readJson(
  request: Request,
  response: Response,
  parseJson: RequestHandler,
): Promise<unknown> {
  if (hasBody(request) && request.is(JSON_TYPES) === false) {
    throw new GatewayError('unsupported_media_type', 'The body must be application/json.');
  }
  const type = request.headers['content-type'];
  if (type !== undefined) request.headers['content-type'] = type.replace(UTF8_LABEL, '$1utf-8');
  await new Promise<void>((resolve, reject) => {
    void parseJson(request, response, (error?: unknown) => {
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error('the body could not be read'));
    });
  });
  return request.body as unknown;
}

function hasBody(request: Request): boolean {
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
