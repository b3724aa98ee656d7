import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Registry } from 'prom-client';
import { Instruments } from '../telemetry/instruments.ts';
import type { Clock, Timer } from '../clock.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface CertificateFiles {
  /** PEM: the certificate, then those between it and its root. */
  readonly certFile: string;
  /** PEM, without a passphrase. */
  readonly keyFile: string;
}

/** The certificate that a port shows, kept to what the files hold. */
export interface ServedCertificate {
  /** What a TLS server takes: the pair that was read last and is good, TLS 1.2 or newer. */
  readonly context: SecureContextOptions;
  /** Calls back with the context of each new pair. Connections that stand keep the one they began with. */
  onChange(use: (context: SecureContextOptions) => void): void;
  /** Looks at the files now. Never rejects. */
  reload(): Promise<void>;
  stop(): void;
}

export interface ServedCertificateOptions {
  readonly files: CertificateFiles;
  /** How often the files are looked at. */
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
 * Reads certificate and key, and again whenever the files change: their bytes are compared, as a
 * mounted secret is changed by a link and two writes may fall into one tick of a file's time. A pair
 * that is not good is reported once and the one before serves on; so does a pair of which only one
 * file has been written yet.
 *
 * @throws Error in one line where the first pair cannot be read or is not good
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
      log.info({ fingerprint: pair.fingerprint, expires_at }, 'a new certificate is served');
    } catch (error) {
      refuse(error instanceof Error ? error.message : String(error));
    }
  }

  /** A file that stays away is told once. */
  function refuse(reason: string): void {
    if (reason === lastRefusal) return;
    lastRefusal = reason;
    metrics.reloads.inc({ result: 'refused' });
    log.error({ reason }, 'the new certificate is refused; the one before serves on');
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

/** Node's own choice of ciphers; TLS 1.2 stands here as the process may have been told otherwise. */
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

/** What is wrong is told without a word of the key. */
function checked({ cert, key }: FileBytes): KeyPair {
  try {
    const first = new X509Certificate(cert);
    createSecureContext(contextOf({ cert, key }));
    return { cert, key, notAfterMs: Date.parse(first.validTo), fingerprint: first.fingerprint256 };
  } catch (cause) {
    const { code = 'error' } = cause as NodeJS.ErrnoException;
    throw new Error(`TLS_CERT_FILE and TLS_KEY_FILE are no certificate and its key (${code})`, {
      cause,
    });
  }
}

function registerMetrics(registry: Registry, notAfterMs: () => number) {
  const instruments = new Instruments(registry);
  instruments.observeGauge(
    'gateway_tls_certificate_expiry_timestamp_seconds',
    'When the certificate that is served expires.',
    () => notAfterMs() / 1000,
  );
  return {
    reloads: instruments.counter(
      'gateway_tls_certificate_reloads_total',
      'Changes of the certificate files, by whether the new pair is used.',
      ['result'],
    ),
  };
}
