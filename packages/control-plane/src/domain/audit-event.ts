import { z } from 'zod';
import { timeView } from './fields.ts';

/** How long a change can be looked up. */
export const AUDIT_RETENTION_DAYS = 400;

const RETENTION_MS = AUDIT_RETENTION_DAYS * 24 * 60 * 60 * 1000;

export const RESOURCE_TYPES = ['service', 'route', 'token', 'environment'] as const;

export const AUDIT_ACTIONS = [
  ...(['service.created', 'service.updated', 'service.deleted'] as const),
  ...(['route.created', 'route.updated', 'route.deleted'] as const),
  ...(['token.created', 'token.rotated', 'token.revoked'] as const),
  ...(['environment.created', 'environment.rolled_back'] as const),
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who makes a change, and from where. Nulls: the control plane itself, at its start. */
export interface ChangeOrigin {
  readonly tokenId: string | null;
  /** The client's address, as trusted proxies report it. */
  readonly clientAddress: string | null;
  readonly requestId: string | null;
  /** Makes the id of an audit event at this time (ms since the Unix epoch), or now. */
  readonly newEventId: (atMs?: number) => string;
}

/** The origin of a change that the control plane makes itself. */
export function ownOrigin(newId: (prefix: 'aud', atMs?: number) => string): ChangeOrigin {
  return {
    tokenId: null,
    clientAddress: null,
    requestId: null,
    newEventId: (atMs) => newId('aud', atMs),
  };
}

/** An audit event as it is stored. */
export interface AuditRow {
  readonly id: string;
  readonly occurredAtMs: number;
  readonly action: string;
  readonly resource_type: string;
  readonly resource_id: string;
  readonly environments: readonly string[];
  readonly token_id: string | null;
  readonly client_ip: string | null;
  readonly request_id: string | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

const resourceView = z.record(z.string(), z.unknown()).nullable();

/** An audit event as the API shows it. */
export const auditEventViewSchema = z.object({
  id: z.string(),
  occurred_at: timeView,
  action: z.enum(AUDIT_ACTIONS),
  resource_type: z.enum(RESOURCE_TYPES),
  /** Of an environment, its name. */
  resource_id: z.string(),
  environments: z.array(z.string()),
  /** null: the control plane itself, at its start. */
  token_id: z.string().nullable(),
  client_ip: z.string().nullable(),
  /** That of the call which made the change. */
  request_id: z.string().nullable(),
  /** null where the resource was made. */
  before: resourceView,
  /** null where the resource is gone. */
  after: resourceView,
});

export function auditEventView(event: AuditRow): Readonly<Record<string, unknown>> {
  const { id, occurredAtMs, ...rest } = event;
  return { id, occurred_at: new Date(occurredAtMs).toISOString(), ...rest };
}

/** The oldest time of a change that is still found, ms since the Unix epoch. */
export function oldestEventFound(nowMs: number): number {
  return nowMs - RETENTION_MS + 1;
}
