import { z } from 'zod';
import { viewOf } from '@gateway/shared/definitions/derived-schemas';
import { choiceField, exampleId } from '@gateway/shared/definitions/fields';
import { idView, timeField } from '../fields/response-fields.ts';

/** How long audit events are kept. */
export const AUDIT_RETENTION_DAYS = 400;

const RETENTION_MS = AUDIT_RETENTION_DAYS * 24 * 60 * 60 * 1000;

export const RESOURCE_TYPES = ['service', 'route', 'token', 'environment'] as const;

export const AUDIT_ACTIONS = [
  'service.created',
  'service.updated',
  'service.deleted',
  'route.created',
  'route.updated',
  'route.deleted',
  'token.created',
  'token.updated',
  'token.rotated',
  'token.revoked',
  'environment.created',
  'environment.deleted',
  'environment.rolled_back',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

const resourceView = z.record(z.string(), z.unknown()).nullable();

/** The schema of `auditEventView`. */
export const auditEventViewSchema = z
  .object({
    id: idView('aud', 'The id of the event.'),
    occurred_at: timeField('When the change was made.'),
    action: viewOf(
      choiceField(AUDIT_ACTIONS).meta({
        description: 'What was done.',
        examples: ['route.updated'],
      }),
    ),
    resource_type: viewOf(
      choiceField(RESOURCE_TYPES).meta({
        description: 'The kind of resource.',
        examples: ['route'],
      }),
    ),
    resource_id: z.string().meta({
      description: 'The id of the resource; of an environment, its name.',
      examples: [exampleId('rte')],
    }),
    environments: z
      .array(z.string())
      .meta({ description: 'The environments of the resource.', examples: [['production']] }),
    token_id: z
      .string()
      .nullable()
      .meta({
        description: 'The token of the call. null: the control plane itself, when it started.',
        examples: [exampleId('tok')],
      }),
    client_ip: z
      .string()
      .nullable()
      .meta({
        description: 'The address of the caller. null: the control plane itself.',
        examples: ['203.0.113.7'],
      }),
    request_id: z
      .string()
      .nullable()
      .meta({
        description: 'The call that made the change. null: the control plane itself.',
        examples: [exampleId('req')],
      }),
    before: resourceView.meta({
      description: 'The resource before the change. null: it was created.',
      examples: [{ timeout_ms: 10_000 }],
    }),
    after: resourceView.meta({
      description: 'The resource after the change. null: it was deleted.',
      examples: [{ timeout_ms: 5000 }],
    }),
  })
  .meta({
    id: 'AuditEvent',
    description: 'A change through this API, or by the control plane when it started.',
  });

/** A stored audit event. */
export type AuditRow = Readonly<Omit<z.output<typeof auditEventViewSchema>, 'occurred_at'>> & {
  readonly occurredAtMs: number;
};

/** An audit event as the API shows it. */
export function auditEventView(event: AuditRow): z.output<typeof auditEventViewSchema> {
  return auditEventViewSchema.parse({ ...event, occurred_at: event.occurredAtMs });
}

/** The oldest time of an audit event that can be read, ms since the Unix epoch. */
export function oldestReadableEventMs(nowMs: number): number {
  return nowMs - RETENTION_MS + 1;
}
