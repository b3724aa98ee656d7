import type { Suites } from '../suites.ts';
import { CHUNKS } from './chunks.ts';
import { CONNECTION_FIELDS } from './connection-fields.ts';
import { CONTENT_LENGTH } from './content-length.ts';
import { EXCHANGES } from './exchanges.ts';
import { FRAMING } from './fields/framing.ts';
import { INVALID_FIELDS } from './fields/invalid-fields.ts';
import { PSEUDO_HEADERS } from './fields/pseudo-headers.ts';
import { REPEATED_FIELDS } from './fields/repeated-fields.ts';
import { HEADS } from './heads.ts';
import { HOSTS } from './host.ts';
import { INVALID_RESPONSES } from './invalid-responses.ts';
import { NAMES, TOKENS } from './names.ts';
import { PATHS } from './paths.ts';
import { RESPONSES } from './responses.ts';
import { TRANSFER_ENCODING } from './transfer-encoding.ts';
import { TRAILERS } from './trailers.ts';
import { UPGRADES } from './upgrades.ts';

/** Requests. */
export const REQUEST_SUITES: Suites = {
  'the length of a body': CONTENT_LENGTH,
  'transfer codings': TRANSFER_ENCODING,
  chunks: CHUNKS,
  hosts: HOSTS,
  heads: HEADS,
  'connection fields': CONNECTION_FIELDS,
  exchanges: EXCHANGES,
  upgrades: UPGRADES,
};

/** Responses of an upstream. */
export const RESPONSE_SUITES: Suites = {
  'invalid responses': INVALID_RESPONSES,
  'responses of the upstream': RESPONSES,
};

/** Paths, and fields that identify the caller. */
export const IDENTITY_SUITES: Suites = {
  paths: PATHS,
  'names of the gateway': NAMES,
};

/** On a route without authentication. */
export const OPEN_ROUTE_SUITES: Suites = { 'tokens of the gateway': TOKENS };

/** RFC 9113 section 10.3: fields and frames of HTTP/2 that another version of HTTP reads in another way. */
export const FIELDS_SUITES: Suites = {
  'invalid fields': INVALID_FIELDS,
  'pseudo-header fields': PSEUDO_HEADERS,
  'the end of a body': FRAMING,
  'repeated fields': REPEATED_FIELDS,
};

/** Fields after a body, both ways. */
export const TRAILER_SUITES: Suites = { trailers: TRAILERS };

/** The same from and to an upstream of HTTP/2, but what HTTP/2 cannot express. */
export const HTTP2_UPSTREAM_SUITES: Suites = {
  'trailers with an HTTP/2 upstream': TRAILERS.filter(({ answer }) => isHttp2Answer(answer?.bytes)),
};

function isHttp2Answer(bytes = ''): boolean {
  return !/\r\n(?:X Sum|connection|keep-alive|te|upgrade): |\r\nConnection: /.test(bytes);
}

/** Every case. */
export const CASES = [
  ...[REQUEST_SUITES, RESPONSE_SUITES, IDENTITY_SUITES, OPEN_ROUTE_SUITES, FIELDS_SUITES],
  TRAILER_SUITES,
].flatMap((suites) => Object.values(suites).flat());
