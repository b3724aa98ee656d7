import type { RequestRecord } from '../../api/client.ts';

type Sent = Pick<
  RequestRecord,
  'method' | 'path' | 'host' | 'match' | 'token_id' | 'subject' | 'error_code' | 'request_bytes'
>;

/**
 * A command that sends the request again, with a variable of the shell in place of the credential. Queries, values of
 * header fields and bodies are not recorded.
 *
 * @param origin of the gateway. The recorded host is not trusted with a token: any caller could have named it.
 */
export function curlText(record: Sent, origin: string): string {
  const { method, path, host, match, request_bytes: bodyBytes } = record;
  const credential = credentialOf(record);
  const parts = [
    `curl --globoff --request ${quoted(method)} ${quoted(origin + path)}`,
    ...(match === null || host === null ? [] : [`--header ${quoted(`Host: ${host}`)}`]),
    ...(credential === undefined ? [] : [`--header "Authorization: Bearer $${credential}"`]),
    ...(bodyBytes === 0 ? [] : ['--data-binary @body']),
  ];
  return parts.join(' \\\n  ');
}

function credentialOf({ token_id, subject, error_code }: Sent): string | undefined {
  if (subject !== null) return 'JWT';
  const wasRefused = error_code === 'authentication_failed';
  return token_id === null && !wasRefused ? undefined : 'GATEWAY_TOKEN';
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return /^[A-Za-z]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
