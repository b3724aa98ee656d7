import { writeFile } from 'node:fs/promises';
import { createTestAuthority, type TestAuthority } from '@gateway/shared/test/certificates';
import { startNameServer, type NameServer } from '@gateway/shared/test/name-server';
import {
  writeCertificateFiles,
  type TestCertificateFiles,
} from '@gateway/shared/test/served-certificate';
import { SKEW_MS, SKEWED_CLOCK } from '../../faults/harness/upstream-world.ts';
import { startGateway } from '../../harness/gateway.ts';
import type { AlertGroup, Condition } from '../harness/condition.ts';
import { openWorld, type GatewayWorld } from '../harness/open-world.ts';
import { restartsOf, type Restarts } from '../harness/restart-plane.ts';

const DAY_MS = 86_400_000;
const HOST_NAME = 'upstream.test';
const ADDRESS = { addresses: ['127.0.0.1'], ttlSeconds: 1 };

interface SurroundedWorld extends GatewayWorld {
  readonly restarts: Restarts;
  readonly names: NameServer;
  readonly certificate: TestCertificateFiles;
  /** Replaces the certificate with one for this many days, and makes the data plane read it. */
  readonly renew: (days: number) => Promise<void>;
  /** Makes the data plane with the certificate read it. */
  readonly reload: () => void;
}

const nameDenied: Condition<SurroundedWorld> = {
  condition: 'the DNS server denies the name of an upstream',
  alerts: ['GatewayDNSAnswersMissing'],
  resolved: ['GatewayDNSAnswersMissing'],
  cause({ names }) {
    names.names.delete(HOST_NAME);
    return () => Promise.resolve(names.names.set(HOST_NAME, ADDRESS));
  },
};

const clockAhead: Condition<SurroundedWorld> = {
  condition: 'a data plane is started with a clock that is 5 minutes ahead',
  alerts: ['GatewayClockWrong'],
  resolved: ['GatewayClockWrong'],
  async cause({ restarts }) {
    await restarts.dataPlane(0, {
      nodeArgs: [`--import=${SKEWED_CLOCK.href}`],
      env: { CLOCK_SKEW_MS: String(SKEW_MS) },
    });
    return () => restarts.dataPlane(0);
  },
};

const certificateOld: Condition<SurroundedWorld> = {
  condition: 'the certificate is valid for five more days',
  alerts: ['GatewayCertificateExpires'],
  resolved: ['GatewayCertificateExpires'],
  async cause({ renew }) {
    await renew(5);
    return () => renew(90);
  },
};

const certificateBroken: Condition<SurroundedWorld> = {
  condition: 'the certificate file is not PEM',
  alerts: ['GatewayCertificateRefused'],
  resolved: [],
  async cause({ certificate, reload, renew }) {
    await writeFile(certificate.certFile, 'not a certificate');
    reload();
    return () => renew(90);
  },
};

async function issue(authority: TestAuthority, files: TestCertificateFiles, days: number) {
  const { certPem, keyPem } = authority.issue(['127.0.0.1'], {
    untilMs: Date.now() + days * DAY_MS,
  });
  await writeFile(files.certFile, certPem);
  await writeFile(files.keyFile, keyPem);
}

/** A gateway with the DNS server of the test, and a data plane with a certificate beside its own. */
export const surroundings: AlertGroup<SurroundedWorld> = {
  name: 'surroundings',
  async open() {
    const names = await startNameServer();
    names.names.set(HOST_NAME, ADDRESS);
    const authority = createTestAuthority('planes');
    const certificate = await writeCertificateFiles(authority, ['127.0.0.1']);
    await issue(authority, certificate, 90);
    const gateway = await startGateway({ env: { DNS_SERVERS: names.address } });
    const { port } = new URL(gateway.upstream.url);
    const url = `http://${HOST_NAME}:${port}`;
    await gateway.service({ url, health_check: { interval_ms: 500, timeout_ms: 500 } });
    const { certFile: TLS_CERT_FILE, keyFile: TLS_KEY_FILE } = certificate;
    const secure = await gateway.stack.startDataPlane({ env: { TLS_CERT_FILE, TLS_KEY_FILE } });
    const reload = () => void process.kill(secure.pid, 'SIGHUP');
    const undo = [() => names.close(), () => certificate.remove()];
    return {
      ...(await openWorld(gateway, [secure], undo)),
      restarts: restartsOf(gateway),
      names,
      certificate,
      reload,
      async renew(days) {
        await issue(authority, certificate, days);
        reload();
      },
    };
  },
  conditions: [nameDenied, clockAhead, certificateOld, certificateBroken],
};
