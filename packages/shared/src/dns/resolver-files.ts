import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname as machineName } from 'node:os';
import type { LookupAddress } from 'node:dns';
import type { Clock } from '../clock.ts';
import { isNameServer } from './name-servers.ts';

/** How this machine asks for names: resolv.conf(5). */
export interface ResolverConfiguration {
  readonly servers: readonly string[];
  /** Domains that a short name may be in. */
  readonly search: readonly string[];
  /** A name with this many dots is asked for as it is first. */
  readonly ndots: number;
}

const DEFAULT_SERVER = '127.0.0.1';
/** The limits of glibc. */
const MAX_SERVERS = 3;
const MAX_NDOTS = 15;
const MAX_SEARCH = 32;

/** Reads resolv.conf(5); what is not known there, or is no address of a server, has no effect. */
export function parseResolverConfiguration(text: string): ResolverConfiguration {
  const servers: string[] = [];
  const [, ...own] = machineName().split('.');
  let search = [own.join('.')];
  let ndots = 1;
  for (const [keyword, ...values] of linesOf(text)) {
    if (keyword === 'nameserver') servers.push(...values.slice(0, 1).filter(isNameServer));
    else if (keyword === 'search') search = values.slice(0, MAX_SEARCH);
    else if (keyword === 'domain') search = values.slice(0, 1);
    else if (keyword === 'options') {
      const given = values.map((one) => /^ndots:(\d+)$/.exec(one)?.[1]).find(Boolean);
      if (given !== undefined) ndots = Math.min(MAX_NDOTS, Number(given));
    }
  }
  return {
    servers: servers.length > 0 ? servers.slice(0, MAX_SERVERS) : [DEFAULT_SERVER],
    search: search.map((domain) => domain.replace(/^\.|\.$/g, '')).filter((one) => one !== ''),
    ndots,
  };
}

/** Reads hosts(5): the addresses of each name, which is in lower case. */
export function parseHosts(text: string): ReadonlyMap<string, readonly LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const [address = '', ...names] of linesOf(text)) {
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names.map((one) => one.toLowerCase())) {
      const found = hosts.get(name) ?? [];
      if (!found.some((one) => one.address === address)) found.push({ address, family });
      hosts.set(name, found);
    }
  }
  for (const found of hosts.values()) found.sort((one, other) => one.family - other.family);
  return hosts;
}

function linesOf(text: string): string[][] {
  return text
    .split('\n')
    .map((line) => line.replace(/[#;].*$/, '').trim())
    .filter((line) => line !== '')
    .map((line) => line.split(/\s+/));
}

/** How long a file is taken to be unchanged. */
const UNCHANGED_MS = 1_000;

/** Follows a file: reads it again if it has changed. A file that cannot be read is an empty one. */
export function followFile<T>(path: string, parse: (text: string) => T, clock: Clock) {
  let known: Promise<T> | undefined;
  let version = '';
  let checkedMs = -Infinity;
  return async (): Promise<T> => {
    const nowMs = clock.monotonicMs();
    if (known !== undefined && nowMs < checkedMs + UNCHANGED_MS) return known;
    checkedMs = nowMs;
    const now = await versionOf(path);
    if (known === undefined || now !== version) {
      version = now;
      known = readFile(path, 'utf8').then(parse, () => parse(''));
    }
    return known;
  };
}

async function versionOf(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return [mtimeMs, size, ino].join(' ');
  } catch {
    // A file that is not there has no version.
    return '';
  }
}
