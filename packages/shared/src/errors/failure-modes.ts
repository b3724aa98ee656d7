import { connectCodeOf } from './connect-codes.ts';
import { ERRORS_PATH } from './error-content.ts';
import {
  ERROR_CODES,
  ERROR_TABLE,
  type ErrorCode,
  type ErrorDomain,
  type ErrorKind,
} from './error-table.ts';
import { grpcStatusText } from './grpc-statuses.ts';

const WHO: Readonly<Record<ErrorDomain, string>> = {
  request: 'the caller',
  access: 'the caller',
  upstream: 'the operator of the service',
  gateway: 'the operator of the gateway',
};

const REPLAY = {
  safe: 'yes: nothing reached an upstream, nothing was changed',
  no: 'no: the response would be the same',
  unknown: 'only if the operation is idempotent',
} as const;

function row(code: ErrorCode, kind: ErrorKind): string {
  return `| ${String(kind.status)} | \`${code}\` | ${grpcStatusText(code)} | ${kind.domain} | ${WHO[kind.domain]} | ${kind.when} | ${kind.action} | ${REPLAY[kind.replay]} |`;
}

/** What connect-node reports, by HTTP status. */
function clientRows(): string[] {
  const statuses = new Set(ERROR_CODES.map((code) => ERROR_TABLE[code].status));
  return [...statuses]
    .sort((one, other) => one - other)
    .map((status) => {
      const made = connectCodeOf(status);
      return `| ${status} | ${made} | the gRPC status of the error | ${made} |`;
    });
}

/** docs/use/failure-modes.md, made from the error table; a test compares the file with this text. */
export function failureModesDocument(): string {
  const rows = ERROR_CODES.map((code) => row(code, ERROR_TABLE[code]));
  return `# Failure modes

<!-- Made from packages/shared/src/errors/error-table.ts by \`npm run generate\`. -->

Every error response that the gateway itself makes has the body \`{"error": {"code", "message", "request_id"}}\` and the
header \`X-Gateway-Error: <code>\`. A response without that header came from the upstream, whatever its status.

A caller whose \`Accept\` names \`application/problem+json\`, with a weight that is not below that of
\`application/json\`, gets that media type: the members of problem details (RFC 9457) beside the same \`error\`, so that
readers of either form find theirs. \`type\` is \`${ERRORS_PATH}#<code>\`, a page of the control plane, \`title\` the
same for each error with the code, \`status\` the status, \`detail\` the message, and \`instance\` the path of the record,
\`/v1/requests/<request id>\`. \`type\` has no host, because the gateway does not know by which one its operators reach
it; compare it as a text. So each error has \`Vary: Accept\`. A request that is not valid HTTP always gets
\`application/json\`.

## gRPC calls

A request whose \`Content-Type\` is \`application/grpc\`, alone or followed by \`+\` or \`;\`, is a gRPC call. An
error that the gateway makes for it is one head without a body (*Trailers-Only*), over HTTP/2 one HEADERS frame that ends
the stream. It has the status, \`X-Gateway-Error\` and the other headers of any error, and \`grpc-status\` with the gRPC
status below, \`grpc-message\` with \`<code>: <message>\`, percent-encoded, and \`content-type: application/grpc\`. Where
an error has \`Retry-After\`, \`grpc-retry-pushback-ms\` says the same in milliseconds: clients with a retry policy for
the status wait that long (gRFC A6).

A response over HTTP/2 that breaks off after its head ends with \`grpc-status\` and \`grpc-message\` in its trailers, in
the same form: see [calls that break off](policies/grpc-errors.md#calls-that-break-off).

Clients repeat UNAVAILABLE by their usual retry policies. So it stands only for calls that certainly did not reach an
upstream, and for those whose response had begun, which no client library repeats by itself.

gRPC-Web and Connect are other protocols. Their errors have the status and the JSON body of any other request.

What clients report was tested for each code with @grpc/grpc-js 1.14.7 and @connectrpc/connect-node 2.1.2
(\`e2e/clients/grpc-errors.test.ts\`). grpc-js and Go (grpc-go 1.33, \`grpc-errors.long.test.ts\`) report the gRPC status
and the message. connect-node takes the HTTP status before the gRPC status and drops the message, unless the route has
[\`grpc_errors: trailers\`](policies/grpc-errors.md).

| HTTP status | connect-node, gRPC, \`grpc_errors: status\` | connect-node, gRPC, \`grpc_errors: trailers\` | connect-node, gRPC-Web and Connect |
| --- | --- | --- | --- |
${clientRows().join('\n')}

## The table

| status | code | gRPC status | domain | who should act | when | what to do | send it again unchanged? |
| --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}
