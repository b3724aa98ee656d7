import { randomBytes } from 'node:crypto';
import { systemRandom } from '@gateway/shared/ids';
import {
  CredentialVault,
  type UpstreamCredential,
} from '@gateway/shared/secrets/upstream-credential';
import type { Snapshot, SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startUpstream, type SeenRequest } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from './data-path.ts';

const bytes = randomBytes(32);
/** The master key of the data path. */
export const environment = { GATEWAY_MASTER_KEYS: `k1:${bytes.toString('base64')}` };
/** Has the master key of the data path. */
export const vault = new CredentialVault([{ id: 'k1', bytes }], systemRandom);
/** Has another master key. */
export const otherVault = new CredentialVault([{ id: 'k2', bytes: randomBytes(32) }], systemRandom);
export const BEARER = { header: 'authorization', value: 'Bearer upstreams-own' };

/** The snapshot with this credential of its first service. */
export function withCredential(
  snapshot: Snapshot,
  credential: UpstreamCredential,
  seal = vault,
  owner = 'svc_test',
): Snapshot {
  const [service, ...others] = snapshot.services;
  if (service === undefined) throw new Error('the snapshot has a service');
  const sealed = seal.seal(credential, owner);
  return { ...snapshot, services: [{ ...service, credential: sealed }, ...others] };
}

interface CredentialOptions {
  readonly route?: Partial<SnapshotRoute>;
  readonly seal?: CredentialVault;
  /** The service that the credential is encrypted for. */
  readonly owner?: string;
  /** The statuses of the first responses; later ones are 200. */
  readonly statuses?: readonly number[];
}

/**
 * Returns the function that starts an upstream and a data path whose service has a credential. Both are closed after the
 * test. Each test file calls this itself: files share this module, and what it registers when it is loaded holds for the
 * first of them only.
 */
export function credentialStarter() {
  const opened = closeAfterEach();
  return (credential: UpstreamCredential, options?: CredentialOptions) =>
    startWithCredential(opened, credential, options);
}

async function startWithCredential(
  opened: ReturnType<typeof closeAfterEach>,
  credential: UpstreamCredential,
  options: CredentialOptions = {},
) {
  const { statuses = [], seal, owner, route } = options;
  const left = [...statuses];
  const upstream = opened(
    await startUpstream((_seen, response) => void response.writeHead(left.shift() ?? 200).end()),
  );
  const token = createTokenSecret();
  const plain = testSnapshot({ upstreams: [upstream.url], ...route }, token);
  const snapshot = withCredential(plain, credential, seal, owner);
  const gateway = opened(
    await startTestDataPath({ upstreams: [] }, { snapshots: [snapshot], environment }),
  );
  const call = (headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(`${gateway.url}/v1/proxy/test`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
  return { upstream, gateway, token, plain, call };
}

/** The values of the fields that arrived with this name, in any case and with any runs of dashes and underscores. */
export function arrived(seen: SeenRequest | undefined, name: string): string[] {
  const { rawHeaders = [] } = seen ?? {};
  return rawHeaders.filter(
    (_text, at) =>
      at % 2 === 1 &&
      rawHeaders[at - 1]?.toLowerCase().split(/[-_]+/).join() === name.split(/[-_]+/).join(),
  );
}
