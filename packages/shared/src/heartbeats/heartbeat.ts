import { z } from 'zod';
import { formatField } from '../formats.ts';
import { ELEMENT_KINDS, MAX_REASON_CHARS } from '../snapshot/read-element.ts';
import { processUseSchema } from './process-use.ts';

/** The format of a heartbeat. */
export const HEARTBEAT_FORMAT = 1;

/** How often a data plane publishes a heartbeat, ms. A change of an upstream's health is published at once. */
export const HEARTBEAT_INTERVAL_MS = 2000;
/** A data plane counts as live until it has missed this many beats. */
export const MISSED_HEARTBEATS = 3;
/** How long a data plane counts as live after a beat, ms. */
export const HEARTBEAT_LIFETIME_MS = HEARTBEAT_INTERVAL_MS * MISSED_HEARTBEATS;
/** The largest heartbeat, bytes: about 5000 services. NATS accepts 1 MiB by default. */
export const MAX_HEARTBEAT_BYTES = 256 * 1024;

/** A heartbeat reports configuration errors of at most this many environments. */
export const MAX_CONFIG_ERRORS = 16;
export const MAX_CONFIG_ERROR_CHARS = 300;

/** A heartbeat names at most this many overloaded services. */
export const MAX_OVERLOADED_SERVICES = 100;

/** A heartbeat describes at most this many elements of the configuration that cannot be used. */
export const MAX_UNUSABLE_ELEMENTS = 50;

/** A heartbeat names at most this many upstreams that are not healthy. */
export const MAX_UPSTREAM_STATES = 500;

/** The states of an upstream besides `healthy`. */
export const UPSTREAM_STATES = ['unhealthy', 'ejected', 'half_open', 'unknown'] as const;

/** Why an upstream is in its state, and since when. */
const upstreamReasonSchema = z.object({
  id: z.string().max(64),
  /** By the data plane's own clock. */
  since_ms: z.number(),
  /** The reason for the last change of its health; `idle` if its ejection ended without a request. */
  reason: z.string().max(32),
  /** What the last request or check failed with: the error of its attempt, or its status. */
  detail: z.string().max(64).optional(),
  /** How many requests or checks in a row failed. */
  failures: z.int().min(1).optional(),
});

const upstreamStateSchema = z.tuple([z.string().max(64), z.enum(UPSTREAM_STATES)]);

/** The upstreams of one service as one data plane sees them: healthy, failing, never checked. */
const serviceHealthSchema = z.tuple([z.int().min(0), z.int().min(0), z.int().min(0)]);

const unusableCredentialsSchema = z.object({
  /** The master key that the credentials were encrypted with. */
  key_id: z.string().max(32),
  reason: z.enum(['key_missing', 'unreadable']),
  /** How many services have such a credential. */
  services: z.int().min(1),
});

/** An element of the served configuration that the data plane cannot use. */
const unusableElementSchema = z.object({
  environment: z.string(),
  kind: z.enum(ELEMENT_KINDS),
  id: z.string(),
  /** Of a route. */
  name: z.string().nullable(),
  /** Holds none of the content. */
  reason: z.string().max(MAX_REASON_CHARS),
});

/**
 * The state that a data plane publishes every two seconds. Readers ignore fields that they do not know, so a
 * field can be added without a new format number.
 */
export const heartbeatSchema = z.object({
  format: formatField(HEARTBEAT_FORMAT),
  id: z.string().min(1).max(64),
  region: z.string().max(63),
  started_at_ms: z.number(),
  /** By the data plane's own clock. */
  sent_at_ms: z.number(),
  interval_ms: z.number().min(1),
  /** Environment → version that it serves. */
  config_versions: z.record(z.string(), z.int()),
  in_flight: z.int().min(0),
  /** Why the newest configuration is not served, without any of its content; null while it is served. */
  last_error: z.string().max(1000).nullable(),
  /** Environment → why its newest configuration is not served. */
  config_errors: z.record(z.string(), z.string().max(MAX_CONFIG_ERROR_CHARS)),
  /** Service id → its upstreams: [healthy, failing, never checked]. */
  services: z.record(z.string(), serviceHealthSchema),
  /** Upstreams that are not healthy, by id; failing ones first. If there are more, the others are left out. */
  upstream_states: z.array(upstreamStateSchema).max(MAX_UPSTREAM_STATES).default([]),
  /** Why the upstreams of `upstream_states` are in their state, and healthy ones that no request has used since. */
  upstream_reasons: z.array(upstreamReasonSchema).max(MAX_UPSTREAM_STATES).default([]),
  /** Services that did not fit. */
  unreported_services: z.int().min(0),
  /** Services whose requests this data plane refuses because it cannot decrypt their credentials. */
  unusable_credentials: z.array(unusableCredentialsSchema).max(16),
  /** Environment → how many elements of its served configuration cannot be used. */
  unusable_counts: z.record(z.string(), z.int()).default({}),
  /** The first of them. */
  unusable_elements: z.array(unusableElementSchema).max(MAX_UNUSABLE_ELEMENTS).default([]),
  /** Ids of services that lately refused requests because they were at one of their limits. */
  overloaded_services: z.array(z.string()).max(MAX_OVERLOADED_SERVICES).default([]),
  /** Version of the program; null if unknown. */
  gateway_version: z.string().max(64).nullable(),
  /** How far the NATS server's clock is ahead of this data plane's, ms; null while unknown. */
  server_ahead_ms: z.int().nullable(),
  ...processUseSchema.shape,
});

export type Heartbeat = z.infer<typeof heartbeatSchema>;
export type UnusableElement = z.infer<typeof unusableElementSchema>;
export type UnusableCredentials = z.infer<typeof unusableCredentialsSchema>;
export type ReportedUpstreamState = z.infer<typeof upstreamStateSchema>;
export type ReportedUpstreamReason = z.infer<typeof upstreamReasonSchema>;
export type ReportedServiceHealth = z.infer<typeof serviceHealthSchema>;

export interface EncodedHeartbeat {
  readonly bytes: Buffer;
  readonly unreportedServices: number;
}

/**
 * Encodes a heartbeat within `MAX_HEARTBEAT_BYTES`. Services that do not fit are left out from the end and
 * counted in `unreported_services`.
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
