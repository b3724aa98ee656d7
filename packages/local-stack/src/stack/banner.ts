import { demoEnvironment } from './demo.ts';

export interface BannerFacts {
  readonly baseUrl: string;
  /** Of the data planes beyond the first. */
  readonly furtherUrls: readonly string[];
  readonly controlPlaneUrl: string;
  readonly adminToken: string;
  readonly defaultEnvironment: string;
  readonly dataDir: string;
}

/** What an operator needs first. Each curl line is whole and works as it stands. */
export function banner(facts: BannerFacts): string {
  const { baseUrl, adminToken, defaultEnvironment } = facts;
  const authorization = `-H 'Authorization: Bearer ${adminToken}'`;
  const environment =
    defaultEnvironment === demoEnvironment ? '' : ` -H 'X-Gateway-Environment: ${demoEnvironment}'`;
  const body = `-H 'Content-Type: application/json' -d '{"hello":"gateway"}'`;
  const further = facts.furtherUrls.map((url) => `                 ${url}\n`).join('');
  return `
The gateway serves.

  Base URL       ${baseUrl}
${further}  Console        ${baseUrl}/console
  Control plane  ${facts.controlPlaneUrl}
  Admin token    ${adminToken}
  Data folder    ${facts.dataDir}

A request through the gateway, and the list of services:

curl -sS -i -X POST ${baseUrl}/v1/proxy/echo ${authorization}${environment} ${body}
curl -sS ${baseUrl}/v1/services ${authorization}

Ctrl-C stops everything.
`;
}
