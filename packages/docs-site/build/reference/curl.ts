import type { ApiOperation } from './openapi.ts';

/** How to call an operation from a shell, with the variables that all pages of the documentation use. */
export function curlExample(method: string, path: string, operation: ApiOperation): string {
  const target = path.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => {
    const parameter = operation.parameters?.find((one) => one.name === name);
    return String(parameter?.example ?? placeholder);
  });
  const verb = method === 'get' ? '' : ` -X ${method.toUpperCase()}`;
  const lines = [`curl -sS${verb} "$GATEWAY${target}"`, `-H "Authorization: Bearer $TOKEN"`];
  const body = operation.requestBody?.content['application/json']?.example;
  if (body !== undefined) {
    const json = JSON.stringify(body, undefined, 2).replaceAll("'", String.raw`'\''`);
    lines.push(`-H 'Content-Type: application/json'`, `-d '${json}'`);
  }
  return lines.join(' \\\n  ');
}
