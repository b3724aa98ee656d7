import { statSync } from 'node:fs';
import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { RequestHandler, Response } from 'express';
import sirv from 'sirv';
import type { Responder } from './reply.ts';

const ONE_YEAR_S = 365 * 24 * 60 * 60;

export interface StaticFilesOptions {
  /** A folder that a build makes, whose paths are those of the URLs. */
  readonly folder: string;
  /** Whether the name of each file has its hash, so that browsers keep it for a year; else they ask each time. */
  readonly immutable: boolean;
  /** Header fields of these files only. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Answers or throws that there is no such file, or that nothing was built. */
  readonly missing: (isBuilt: boolean, response: Response) => void;
}

/**
 * Serves built files, compressed as they were when they were built where the browser accepts it. Another build has replaced the
 * folder: its files are served then, and the ones before are missing.
 */
export function staticFiles(responder: Responder, options: StaticFilesOptions): RequestHandler {
  const { folder, immutable, headers = {}, missing } = options;
  const own = immutable ? headers : { 'cache-control': 'no-cache', ...headers };
  let serve: ReturnType<typeof sirv> | undefined;
  let served: string | undefined;
  return (request, response) => {
    const present = statSync(folder, { throwIfNoEntry: false });
    if (present === undefined) {
      missing(false, response);
      return;
    }
    // The files are listed once. A listed file that is gone would be an error that nobody can catch.
    const build = `${present.ino} ${present.mtimeMs}`;
    if (serve === undefined || served !== build) {
      served = build;
      const caching = immutable ? { maxAge: ONE_YEAR_S, immutable } : {};
      serve = sirv(folder, { brotli: true, gzip: true, etag: true, ...caching });
    }
    responder.prepare(response);
    // Here and not by sirv, which leaves them out of a 304: a browser would then use those of other responses for its copy.
    const others = setHeaders(response, own);
    serve(request, response, () => {
      setHeaders(response, others);
      missing(true, response);
    });
  };
}

type Headers = Readonly<Record<string, OutgoingHttpHeader | undefined>>;

/** @returns what these header fields were before */
function setHeaders(response: ServerResponse, headers: Headers): Headers {
  const before = Object.keys(headers).map((name) => [name, response.getHeader(name)] as const);
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) response.removeHeader(name);
    else response.setHeader(name, value);
  }
  return Object.fromEntries(before);
}
