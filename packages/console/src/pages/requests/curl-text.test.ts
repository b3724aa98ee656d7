import { expect, it } from '@jest/globals';
import { curlText } from './curl-text.ts';

const record = {
  method: 'POST',
  path: '/v1/proxy/orders/2113',
  host: 'gateway.example',
  match: null,
  token_id: 'tok_1',
  subject: null,
  error_code: null,
  request_bytes: 12,
};

it('has a variable in place of the credential, and a file in place of the body', () => {
  expect(curlText(record, 'https://gw')).toBe(
    [
      "curl --globoff --request POST 'https://gw/v1/proxy/orders/2113' \\",
      '  --header "Authorization: Bearer $GATEWAY_TOKEN" \\',
      '  --data-binary @body',
    ].join('\n'),
  );
  expect(curlText({ ...record, subject: 'ann' }, 'https://gw')).toContain('Bearer $JWT"');
});

it('has no credential if none was needed', () => {
  const open = { ...record, token_id: null, request_bytes: 0, method: 'GET' };
  expect(curlText(open, 'https://gw')).not.toContain('Authorization');
  const refused = { ...open, error_code: 'authentication_failed' };
  expect(curlText(refused, 'https://gw')).toContain('Authorization');
});

it('goes to the gateway, not to a host that a caller made up', () => {
  const hostile = { ...record, host: 'evil.example', match: 'evil.example/*' };
  const text = curlText(hostile, 'https://gw');
  expect(text).toContain("'https://gw/v1/proxy/orders/2113'");
  expect(text).toContain("--header 'Host: evil.example'");
});

it('runs nothing that stands in a path or a method', () => {
  const hostile = { ...record, path: "/'; $(reboot) '", method: 'GET;reboot' };
  expect(curlText(hostile, 'https://gw')).toContain(
    String.raw`--request 'GET;reboot' 'https://gw/'\''; $(reboot) '\'''`,
  );
});
