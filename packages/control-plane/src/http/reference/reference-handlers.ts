import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ERRORS_PATH } from '@gateway/shared/errors/error-content';
import type { RequestHandler } from 'express';
import type { Responder } from '../reply.ts';
import { ERRORS_PAGE } from './errors-page.ts';
import {
  PAGE,
  REFERENCE_PATH,
  REFERENCE_POLICY,
  RENDERER_PATH,
  START,
  START_PATH,
} from './reference-page.ts';

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const gzipped = promisify(gzip);

/** The handlers of GET for the reference of the API, by path. They need no token, as the document needs none. */
export function referenceHandlers(responder: Responder): readonly [string, RequestHandler][] {
  const policy = { 'content-security-policy': REFERENCE_POLICY };
  const loadRenderer = rendererLoader();
  return [
    [
      REFERENCE_PATH,
      (_request, response) => {
        const type = 'text/html; charset=utf-8';
        responder.reply(response, { kind: 'document', content: PAGE, type }, policy);
      },
    ],
    [
      ERRORS_PATH,
      (_request, response) => {
        const type = 'text/html; charset=utf-8';
        responder.reply(response, { kind: 'document', content: ERRORS_PAGE, type }, policy);
      },
    ],
    [
      START_PATH,
      (_request, response) => {
        responder.reply(response, { kind: 'document', content: START, type: JAVASCRIPT }, policy);
      },
    ],
    [
      RENDERER_PATH,
      async (request, response) => {
        const isGzip = request.acceptsEncodings('gzip') === 'gzip';
        const content = await loadRenderer(isGzip);
        const encoding = isGzip ? { 'content-encoding': 'gzip' } : {};
        responder.reply(
          response,
          { kind: 'document', content, type: JAVASCRIPT },
          { ...policy, ...encoding, vary: 'Accept-Encoding' },
        );
      },
    ],
  ];
}

/** Reads the renderer when the reference is first opened, and keeps it compressed: most processes never show it. */
function rendererLoader(): (compressed: boolean) => Promise<Buffer> {
  let compressing: Promise<Buffer> | undefined;
  const read = () => readFile(rendererFile());
  return (compressed) => {
    if (!compressed) return read();
    compressing ??= read()
      .then((bytes) => gzipped(bytes))
      .catch((error: unknown) => {
        compressing = undefined;
        throw error;
      });
    return compressing;
  };
}

/** The bundle for browsers stands beside the one file of the package that can be resolved without its dependencies. */
function rendererFile(): URL {
  const styles = createRequire(import.meta.url).resolve('@scalar/api-reference/style.css');
  return new URL('browser/standalone.js', `file://${styles}`);
}
