import type { SecureContext } from 'node:tls';
import { messageOf } from '../errors/message-of.ts';
import { normalHost } from '../http/normal-path.ts';
import type { Logger } from '../telemetry/logger.ts';
import { CertificateNames, wildcardOf } from './certificate-names.ts';
import {
  digestOf,
  expiryMs,
  openKeyPair,
  readKeyPair,
  type CertificateFiles,
  type KeyPairBytes,
} from './key-pair.ts';
import { listPairs, requireSmallFiles } from './pair-files.ts';

/** More are not read. Each takes about 40 KB of memory. */
const MAX_PAIRS = 1000;

/** A certificate of the folder. */
export interface NamedCertificate {
  /** Made once. */
  readonly context: SecureContext;
  readonly names: CertificateNames;
}

interface OpenPair extends NamedCertificate {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly fingerprint: string;
  readonly digest: string;
}

type Listed = readonly [name: string, files: CertificateFiles];

/** What is known of a pair of files. */
interface Entry {
  /** Of the files when they were last read. */
  seen: string | undefined;
  /** The last valid one; undefined: there was none. */
  pair: OpenPair | undefined;
  /** Why the files as they are now are not used; undefined: they are. */
  refusal: string | undefined;
}

export interface CertificateFolderOptions {
  readonly folder: string;
  readonly log: Logger;
  /** Counts changes of pairs after the start, by whether the new pair is used. */
  readonly changed: (result: 'used' | 'refused') => void;
}

/**
 * The certificates of a folder (`listPairs` has its layout), which callers choose by the name that they send in the TLS
 * handshake (SNI). An exact name wins over a wildcard. If several pairs have a name, the one whose validity begins last
 * wins, and of equal ones the first by name.
 *
 * A pair that is not valid is reported once, and the last valid one stays. A pair whose files are both gone is not served
 * any more. If the folder cannot be read, all stays as it is.
 */
export class CertificateFolder {
  readonly #options: CertificateFolderOptions;
  readonly #entries = new Map<string, Entry>();
  #byName: ReadonlyMap<string, OpenPair> = new Map();
  /** Why the folder, or a part of it, is not read. */
  #refusal: string | undefined = undefined;
  #isOpen = false;

  private constructor(options: CertificateFolderOptions) {
    this.#options = options;
  }

  /**
   * Reads a folder for the first time. A pair that is not valid is reported, and the others are served.
   *
   * @throws Error of one line if the folder cannot be read
   */
  static async open(options: CertificateFolderOptions): Promise<CertificateFolder> {
    const opened = new CertificateFolder(options);
    await opened.#read();
    opened.#isOpen = true;
    const { folder, log } = options;
    log.info({ folder, pairs: opened.count('served') }, 'certificate folder read');
    return opened;
  }

  /** The certificate for a name; undefined: that of the port. */
  select(name: string): NamedCertificate | undefined {
    const host = normalHost(name);
    const exact = this.#byName.get(host);
    if (exact !== undefined) return exact;
    const wildcard = wildcardOf(host);
    return wildcard === undefined ? undefined : this.#byName.get(wildcard);
  }

  /** Pairs that are served, or those whose files are not used. A pair of which the last valid state is served is both. */
  count(state: 'served' | 'refused'): number {
    const part = state === 'served' ? 'pair' : 'refusal';
    let count = 0;
    for (const entry of this.#entries.values()) if (entry[part] !== undefined) count += 1;
    return count;
  }

  /** When the certificate of each pair expires, ms since the Unix epoch. */
  expiries(): (readonly [name: string, atMs: number])[] {
    return [...this.#entries].flatMap(([name, { pair }]) =>
      pair === undefined ? [] : [[name, pair.untilMs] as const],
    );
  }

  /** Reads the folder again. Never rejects. */
  async look(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      this.#refuseFolder(messageOf(error));
    }
  }

  async #read(): Promise<void> {
    const listed = await listPairs(this.#options.folder);
    const kept = this.#withinBound([...listed]);
    let isChanged = this.#drop(new Set(kept.map(([name]) => name)));
    for (const [name, files] of kept) isChanged = (await this.#readPair(name, files)) || isChanged;
    if (isChanged) this.#byName = indexed(this.#entries);
  }

  /** A new pair does not displace one that is known. */
  #withinBound(listed: readonly Listed[]): readonly Listed[] {
    if (listed.length <= MAX_PAIRS) {
      this.#refusal = undefined;
      return listed;
    }
    const known = listed.filter(([name]) => this.#entries.has(name));
    const others = listed.filter(([name]) => !this.#entries.has(name));
    const sorted = [...known, ...others];
    const [first = ''] = sorted[MAX_PAIRS] ?? [];
    const { folder } = this.#options;
    this.#refuseFolder(
      `${folder} must have at most ${MAX_PAIRS} pairs; not read: ${first} and those after it`,
    );
    return sorted.slice(0, MAX_PAIRS);
  }

  /** Forgets pairs that are gone. */
  #drop(kept: ReadonlySet<string>): boolean {
    let isChanged = false;
    for (const [name, { pair }] of this.#entries) {
      if (kept.has(name)) continue;
      this.#entries.delete(name);
      if (pair === undefined) continue;
      isChanged = true;
      this.#options.log.info({ pair: name }, 'certificate removed');
    }
    return isChanged;
  }

  async #readPair(name: string, files: CertificateFiles): Promise<boolean> {
    const entry = this.#entries.get(name) ?? {
      seen: undefined,
      pair: undefined,
      refusal: undefined,
    };
    this.#entries.set(name, entry);
    try {
      await requireSmallFiles(files);
      const bytes = await readKeyPair(files);
      const digest = digestOf(bytes);
      if (digest === entry.seen) {
        if (digest === entry.pair?.digest) entry.refusal = undefined;
        return false;
      }
      entry.seen = digest;
      entry.pair = openPair(files, bytes, digest);
      entry.refusal = undefined;
      this.#used(name, entry.pair);
      return true;
    } catch (error) {
      this.#refuse(name, entry, messageOf(error));
      return false;
    }
  }

  #used(name: string, { fingerprint, untilMs }: OpenPair): void {
    if (!this.#isOpen) return;
    this.#options.changed('used');
    const expires_at = new Date(untilMs).toISOString();
    this.#options.log.info({ pair: name, fingerprint, expires_at }, 'certificate reloaded');
  }

  /** The same problem is reported once. */
  #refuse(name: string, entry: Entry, reason: string): void {
    if (reason === entry.refusal) return;
    entry.refusal = reason;
    this.#options.changed('refused');
    const { log } = this.#options;
    if (entry.pair === undefined) log.error({ pair: name, reason }, 'certificate refused');
    else log.error({ pair: name, reason }, 'certificate reload failed; using the previous one');
  }

  #refuseFolder(reason: string): void {
    if (reason === this.#refusal) return;
    this.#refusal = reason;
    this.#options.changed('refused');
    this.#options.log.error({ reason }, 'certificate folder refused');
  }
}

/** @throws Error of one line that names the files and the rule */
function openPair(files: CertificateFiles, bytes: KeyPairBytes, digest: string): OpenPair {
  const { certFile, keyFile } = files;
  const { context, certificate } = openKeyPair(bytes, `${certFile} and ${keyFile}`);
  const names = new CertificateNames(certificate);
  if (names.dns.size === 0) {
    throw new Error(`${certFile} must have a DNS name in subjectAltName`);
  }
  const { fingerprint256: fingerprint } = certificate;
  const fromMs = Date.parse(certificate.validFrom);
  return { context, names, fingerprint, digest, fromMs, untilMs: expiryMs(certificate) };
}

/** The pair of each name. */
function indexed(entries: ReadonlyMap<string, Entry>): ReadonlyMap<string, OpenPair> {
  const found = new Map<string, OpenPair>();
  for (const name of [...entries.keys()].toSorted()) {
    const pair = entries.get(name)?.pair;
    if (pair === undefined) continue;
    for (const dns of pair.names.dns) {
      const other = found.get(dns);
      if (other === undefined || pair.fromMs > other.fromMs) found.set(dns, pair);
    }
  }
  return found;
}
