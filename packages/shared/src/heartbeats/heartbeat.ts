import { z } from 'zod';

/** How often a data plane tells that it lives, ms; at once, too, where the health of an upstream changes. */
export const HEARTBEAT_INTERVAL_MS = 2000;
/** A data plane counts as live until it has missed this many beats. */
export const MISSED_HEARTBEATS = 3;
/** How long a data plane counts as live after a beat, ms. */
export const HEARTBEAT_LIFETIME_MS = HEARTBEAT_INTERVAL_MS * MISSED_HEARTBEATS;
/** The largest heartbeat, bytes: about 5000 services. NATS takes 1 MiB by default. */
export const MAX_HEARTBEAT_BYTES = 256 * 1024;

/** Of so many environments a heartbeat says why their newest configuration is not served. */
export const MAX_CONFIG_ERRORS = 16;
export const MAX_CONFIG_ERROR_CHARS = 300;

/** What one data plane sees of a service: how many of its upstreams are healthy, fail, were never checked. */
const serviceHealthSchema = z.tuple([z.int().min(0), z.int().min(0), z.int().min(0)]);

const unusableCredentialsSchema = z.object({
  /** Of the master key that they were sealed under. */
  key_id: z.string().max(32),
  reason: z.enum(['key_missing', 'unreadable']),
  /** How many services have such a credential. */
  services: z.int().min(1),
});

/**
 * What a data plane tells of itself (DESIGN section 4 "Heartbeats"). Keys that this version does not
 * know are left out on reading, so that neighbouring versions work together.
 */
export const heartbeatSchema = z.object({
  id: z.string().min(1).max(64),
  region: z.string().max(63),
  started_at_ms: z.number(),
  /** By the data plane's own clock. */
  sent_at_ms: z.number(),
  interval_ms: z.number().min(1),
  /** Environment → version that it serves. */
  config_versions: z.record(z.string(), z.int()),
  in_flight: z.int().min(0),
  /** Why the newest configuration is not served, without any of its content; null where it is. */
  last_error: z.string().max(1000).nullable(),
  /** Environment → why its newest configuration is not served; absent from older ones. */
  config_errors: z.record(z.string(), z.string().max(MAX_CONFIG_ERROR_CHARS)).default({}),
  /** Service id → its upstreams: [healthy, failing, never checked]. */
  services: z.record(z.string(), serviceHealthSchema),
  /** Services that had no room. */
  unreported_services: z.int().min(0),
  /** Services that this data plane refuses, as it cannot open their credentials; absent from older ones. */
  unusable_credentials: z.array(unusableCredentialsSchema).max(16).default([]),
  /** Of the program; null where it does not tell, as older ones do not. */
  gateway_version: z.string().max(64).nullable().default(null),
  /** How far the NATS server's clock is ahead of this data plane's, ms; null while not known. */
  server_ahead_ms: z.int().nullable().default(null),
});

export type Heartbeat = z.infer<typeof heartbeatSchema>;
export type UnusableCredentials = z.infer<typeof unusableCredentialsSchema>;
export type ReportedServiceHealth = z.infer<typeof serviceHealthSchema>;

export interface EncodedHeartbeat {
  readonly bytes: Buffer;
  readonly unreportedServices: number;
}

/**
 * The heartbeat in bytes, within `MAX_HEARTBEAT_BYTES`: services that have no room are left out from
 * the end and counted in `unreported_services`.
 */
export function encodeHeartbeat(heartbeat: Heartbeat): EncodedHeartbeat {
  const whole = Buffer.from(JSON.stringify(heartbeat));
  if (whole.length <= MAX_HEARTBEAT_BYTES) {
    return { bytes: whole, unreportedServices: heartbeat.unreported_services };
  }
  const entries = Object.entries(heartbeat.services);
  const bare = { ...heartbeat, services: {}, unreported_services: entries.length };
  let leftBytes = MAX_HEARTBEAT_BYTES - Buffer.byteLength(JSON.stringify(bare));
  let fitting = 0;
  for (const [id, health] of entries) {
    leftBytes -= Buffer.byteLength(JSON.stringify({ [id]: health }));
    if (leftBytes < 0) break;
    fitting += 1;
  }
  const unreportedServices = entries.length - fitting;
  const services = Object.fromEntries(entries.slice(0, fitting));
  const cut = { ...bare, services, unreported_services: unreportedServices };
  return { bytes: Buffer.from(JSON.stringify(cut)), unreportedServices };
}
