import type { SecureContextOptions } from 'node:tls';
import type { Registry } from 'prom-client';
import type { Clock, Timer } from '../clock.ts';
import { messageOf } from '../errors/message-of.ts';
import { Instruments } from '../telemetry/instruments.ts';
import type { Logger } from '../telemetry/logger.ts';
import { CertificateFolder } from './certificate-folder.ts';
import { CertificateNames } from './certificate-names.ts';
import {
  digestOf,
  expiryMs,
  openKeyPair,
  readKeyPair,
  type CertificateFiles,
  type KeyPair,
} from './key-pair.ts';

/** The certificate of a port, reloaded when its files change. */
export interface ServedCertificate {
  /** Options for a TLS server: the last valid pair, TLS 1.2 or newer. */
  readonly context: SecureContextOptions;
  /** The hosts of the last valid pair. */
  readonly names: CertificateNames;
  /** Certificates for names, which win over that of the port; undefined: it is the only one. */
  readonly folder: CertificateFolder | undefined;
  /** Called with the context of each new pair. Open connections keep the pair that they started with. */
  onChange(use: (context: SecureContextOptions) => void): void;
  /** Reads the files now. Never rejects. */
  reload(): Promise<void>;
  stop(): void;
}

export interface ServedCertificateOptions {
  readonly files: CertificateFiles;
  /** The path of a folder of certificates for names. */
  readonly folder?: string | undefined;
  /** How often the files are read. */
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
}

interface Served {
  readonly pair: KeyPair;
  readonly names: CertificateNames;
}

/**
 * Reads certificate and key, and reloads them when the files change. It compares their content, because a mounted secret changes
 * through a symbolic link, and two writes may have the same modification time. An invalid pair is reported once and the previous
 * one stays in use, also if only one of the files has been written yet. The same for each pair of the folder, if there is one.
 *
 * @throws Error of one line if the first pair cannot be read or is not valid, or the folder cannot be read
 */
export async function openServedCertificate(
  options: ServedCertificateOptions,
): Promise<ServedCertificate> {
  const { files, intervalMs, clock, log, registry } = options;
  const first = await readKeyPair(files);
  let served = open(openKeyPair(first, VARIABLES));
  let seen = digestOf(first);
  const reloads = countReloads(registry);
  const folder = await openFolder(options, (result) => {
    reloads.inc({ result });
  });
  observe(registry, () => served.pair, folder);
  const users: ((context: SecureContextOptions) => void)[] = [];
  let lastRefusal: string | undefined;
  let looking: Promise<void> | undefined;
  let timer: Timer | undefined;
  let stopped = false;

  async function lookAtPair(): Promise<void> {
    try {
      const bytes = await readKeyPair(files);
      const digest = digestOf(bytes);
      if (digest === seen) return;
      seen = digest;
      served = open(openKeyPair(bytes, VARIABLES));
      const { options: context, certificate } = served.pair;
      for (const use of users) use(context);
      lastRefusal = undefined;
      reloads.inc({ result: 'used' });
      const expires_at = new Date(expiryMs(certificate)).toISOString();
      log.info({ fingerprint: certificate.fingerprint256, expires_at }, 'certificate reloaded');
    } catch (error) {
      refuse(messageOf(error));
    }
  }

  /** The same problem is reported once. */
  function refuse(reason: string): void {
    if (reason === lastRefusal) return;
    lastRefusal = reason;
    reloads.inc({ result: 'refused' });
    log.error({ reason }, 'certificate reload failed; using the previous one');
  }

  async function look(): Promise<void> {
    await lookAtPair();
    await folder?.look();
  }

  function lookLater(): void {
    if (stopped) return;
    timer = clock.setTimer(intervalMs, () => void reload());
  }

  function reload(): Promise<void> {
    timer?.cancel();
    looking ??= look().finally(() => {
      looking = undefined;
      lookLater();
    });
    return looking;
  }

  lookLater();
  return {
    get context() {
      return served.pair.options;
    },
    get names() {
      return served.names;
    },
    folder,
    onChange: (use) => void users.push(use),
    reload,
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}

const VARIABLES = 'TLS_CERT_FILE and TLS_KEY_FILE';

function open(pair: KeyPair): Served {
  return { pair, names: new CertificateNames(pair.certificate) };
}

async function openFolder(
  { folder, log }: ServedCertificateOptions,
  changed: (result: 'used' | 'refused') => void,
): Promise<CertificateFolder | undefined> {
  return folder === undefined ? undefined : CertificateFolder.open({ folder, log, changed });
}

function countReloads(registry: Registry) {
  return new Instruments(registry).counterBy(
    'gateway_tls_certificate_reloads_total',
    'Changes of the certificate files, by whether the new pair is used',
    'result',
    ['used', 'refused'],
  );
}

function observe(
  registry: Registry,
  pair: () => KeyPair,
  folder: CertificateFolder | undefined,
): void {
  const instruments = new Instruments(registry);
  const name = 'gateway_tls_certificate_expiry_timestamp_seconds';
  const help = 'When the certificate that is served expires';
  const ownSeconds = () => expiryMs(pair().certificate) / 1000;
  if (folder === undefined) {
    instruments.observeGauge(name, help, ownSeconds);
    return;
  }
  instruments.observeGauges(name, help, ['pair'], () => [
    [{ pair: '' }, ownSeconds()],
    ...folder.expiries().map(([label, atMs]) => [{ pair: label }, atMs / 1000] as const),
  ]);
  instruments.observeGauges(
    'gateway_tls_certificate_pairs',
    'Pairs of files in TLS_CERT_DIR, by state; refused: the files are not used, and the last valid pair is served',
    ['state'],
    () => (['served', 'refused'] as const).map((state) => [{ state }, folder.count(state)]),
  );
}
