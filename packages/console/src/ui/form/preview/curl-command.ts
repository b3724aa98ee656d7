import { ShellValue, type PreviewedCall } from './form-preview.ts';

/**
 * A command for a POSIX shell that makes a call of the management API, with variables in place of the token and of
 * secrets.
 *
 * @param origin of the control plane
 */
export function curlCommand(call: PreviewedCall, origin: string): string {
  const { method, path, etag, body } = call;
  const parts = [
    `curl --fail-with-body --request ${method}`,
    quoted(origin + path),
    '--header "Authorization: Bearer $GATEWAY_TOKEN"',
    `--header ${quoted('Content-Type: application/json')}`,
    ...(etag === undefined ? [] : [`--header ${quoted(`If-Match: ${etag}`)}`]),
    `--data ${quotedJson(body)}`,
  ];
  return parts.join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** JSON between single quotes, which end where the shell puts in a value. */
function quotedJson(body: object): string {
  const values: ShellValue[] = [];
  const mark = unusedMark(JSON.stringify(body, (_name, value: unknown) => plain(value)));
  const json = JSON.stringify(
    body,
    (_name, value: unknown) =>
      value instanceof ShellValue ? `${mark}${values.push(value) - 1}` : value,
    2,
  );
  return quoted(json).replaceAll(new RegExp(`${mark}(\\d+)`, 'g'), (_all, at: string) => {
    return `'"${values[Number(at)]?.expression ?? ''}"'`;
  });
}

const plain = (value: unknown) => (value instanceof ShellValue ? null : value);

/** A text that does not occur in another one. */
function unusedMark(json: string): string {
  let mark = 'secret-';
  while (json.includes(mark)) mark += '-';
  return mark;
}
