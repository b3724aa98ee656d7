import { messageOf } from '../errors/message-of.ts';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Registry } from 'prom-client';
import { Instruments } from '../telemetry/instruments.ts';
import type { Clock, Timer } from '../clock.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface CertificateFiles {
  /** PEM: the certificate, followed by intermediate certificates. */
  readonly certFile: string;
  /** PEM, not encrypted. */
  readonly keyFile: string;
}

/** The certificate of a port, reloaded when its files change. */
export interface ServedCertificate {
  /** Options for a TLS server: the last valid pair, TLS 1.2 or newer. */
  readonly context: SecureContextOptions;
  /** Called with the context of each new pair. Open connections keep the pair that they started with. */
  onChange(use: (context: SecureContextOptions) => void): void;
  /** Reads the files now. Never rejects. */
  reload(): Promise<void>;
  stop(): void;
}

export interface ServedCertificateOptions {
  readonly files: CertificateFiles;
  /** How often the files are read. */
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
}

interface FileBytes {
  readonly cert: Buffer;
  readonly key: Buffer;
}

interface KeyPair extends FileBytes {
  readonly notAfterMs: number;
  readonly fingerprint: string;
}

/**
 * Reads certificate and key, and reloads them when the files change. It compares their content, because a mounted secret changes
 * through a symbolic link, and two writes may have the same modification time. An invalid pair is reported once and the previous
 * one stays in use, also if only one of the files has been written yet.
 *
 * @throws Error of one line if the first pair cannot be read or is not valid
 */
export async function openServedCertificate(
  options: ServedCertificateOptions,
): Promise<ServedCertificate> {
  const { files, intervalMs, clock, log } = options;
  let seen = await readFiles(files);
  let pair = checked(seen);
  const metrics = registerMetrics(options.registry, () => pair.notAfterMs);
  const users: ((context: SecureContextOptions) => void)[] = [];
  let lastRefusal: string | undefined;
  let looking: Promise<void> | undefined;
  let timer: Timer | undefined;
  let stopped = false;

  async function look(): Promise<void> {
    try {
      const bytes = await readFiles(files);
      if (bytes.cert.equals(seen.cert) && bytes.key.equals(seen.key)) return;
      seen = bytes;
      pair = checked(bytes);
      for (const use of users) use(contextOf(pair));
      lastRefusal = undefined;
      metrics.reloads.inc({ result: 'used' });
      const expires_at = new Date(pair.notAfterMs).toISOString();
      log.info({ fingerprint: pair.fingerprint, expires_at }, 'certificate reloaded');
    } catch (error) {
      refuse(messageOf(error));
    }
  }

  /** The same problem is reported once. */
  function refuse(reason: string): void {
    if (reason === lastRefusal) return;
    lastRefusal = reason;
    metrics.reloads.inc({ result: 'refused' });
    log.error({ reason }, 'certificate reload failed; using the previous one');
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
      return contextOf(pair);
    },
    onChange: (use) => void users.push(use),
    reload,
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}

/** Node's default ciphers. TLS 1.2 is set explicitly, because options of Node can change the default. */
function contextOf({ cert, key }: FileBytes): SecureContextOptions {
  return { cert, key, minVersion: 'TLSv1.2', honorCipherOrder: true };
}

async function readFiles(files: CertificateFiles): Promise<FileBytes> {
  const [cert, key] = await Promise.all([readPart(files.certFile), readPart(files.keyFile)]);
  return { cert, key };
}

async function readPart(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const { code = 'error' } = cause as NodeJS.ErrnoException;
    throw new Error(`${path} cannot be read (${code})`, { cause });
  }
}

/** The error contains nothing of the key. */
function checked({ cert, key }: FileBytes): KeyPair {
  try {
    const first = new X509Certificate(cert);
    createSecureContext(contextOf({ cert, key }));
    return { cert, key, notAfterMs: Date.parse(first.validTo), fingerprint: first.fingerprint256 };
  } catch (cause) {
    const { code = 'error' } = cause as NodeJS.ErrnoException;
    throw new Error(`TLS_CERT_FILE and TLS_KEY_FILE are not a certificate and its key (${code})`, {
      cause,
    });
  }
}

function registerMetrics(registry: Registry, notAfterMs: () => number) {
  const instruments = new Instruments(registry);
  instruments.observeGauge(
    'gateway_tls_certificate_expiry_timestamp_seconds',
    'When the certificate that is served expires',
    () => notAfterMs() / 1000,
  );
  return {
    reloads: instruments.counterBy(
      'gateway_tls_certificate_reloads_total',
      'Changes of the certificate files, by whether the new pair is used',
      'result',
      ['used', 'refused'],
    ),
  };
}
