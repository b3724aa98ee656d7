import { demoEnvironment } from './demo.ts';

/** What the banner shows. */
export interface BannerFacts {
  readonly baseUrl: string;
  /** Base URLs of the second and later data planes. */
  readonly furtherUrls: readonly string[];
  /** Of each data plane. */
  readonly workers: number;
  readonly controlPlaneUrl: string;
  /** Undefined: it was revoked, or its secret was replaced. */
  readonly adminToken: string | undefined;
  readonly adminTokenFile: string;
  readonly defaultEnvironment: string;
  readonly dataDir: string;
}

/** Printed when the stack is ready. Each curl line can be copied and run unchanged. */
export function banner(facts: BannerFacts): string {
  const { baseUrl, adminToken } = facts;
  const further = facts.furtherUrls.map((url) => `                 ${url}\n`).join('');
  return `
The gateway is ready${scale(facts)}.

  Base URL       ${baseUrl}
${further}  Control plane  ${facts.controlPlaneUrl}
  Console        ${baseUrl}/console
  Documentation  ${baseUrl}/docs/guide
  API reference  ${baseUrl}/docs
  Admin token    ${adminToken ?? refused(facts)}
  Data folder    ${facts.dataDir}
${adminToken === undefined ? '' : calls(facts, adminToken)}
Ctrl-C stops everything.
`;
}

function refused({ adminTokenFile, dataDir }: BannerFacts): string {
  return `refused; ${dataDir}/logs/control-plane.log says why.
                 Set GATEWAY_ADMIN_TOKEN to its newest secret; or unset it and delete
                 ${adminTokenFile} for a new one, which ends the present one`;
}

/** Calls that can be copied. */
function calls({ baseUrl, defaultEnvironment }: BannerFacts, adminToken: string): string {
  const authorization = `-H 'Authorization: Bearer ${adminToken}'`;
  const environment =
    defaultEnvironment === demoEnvironment ? '' : ` -H 'X-Gateway-Environment: ${demoEnvironment}'`;
  const body = `-H 'Content-Type: application/json' -d '{"hello":"gateway"}'`;
  return `
A request through the gateway, and the list of services:

curl -sS -i -X POST ${baseUrl}/v1/proxy/echo ${authorization}${environment} ${body}
curl -sS ${baseUrl}/v1/services ${authorization}
`;
}

/** The number of data planes and workers, if there is more than one. */
function scale({ furtherUrls, workers }: BannerFacts): string {
  const dataPlanes = furtherUrls.length + 1;
  if (dataPlanes === 1 && workers === 1) return '';
  const planes = dataPlanes === 1 ? 'one data plane' : `${dataPlanes} data planes`;
  const each = dataPlanes === 1 ? '' : ' each';
  return ` with ${planes}${workers === 1 ? '' : ` of ${workers} workers${each}`}`;
}
