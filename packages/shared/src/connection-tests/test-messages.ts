import { z } from 'zod';
import { formatField } from '../formats.ts';
import { serviceSchema } from '../snapshot/schema.ts';

/** The format of both messages. */
export const CONNECTION_TEST_FORMAT = 1;

/** How long a data plane may take for one upstream, ms; a shorter timeout of the health check of the service counts instead. */
export const MAX_TEST_MS = 3000;

/**
 * How old a question may be, by the clocks of both, ms: who has read one on NATS cannot repeat it for longer. Clocks that
 * differ by more than 2 s are reported.
 */
export const MAX_QUESTION_AGE_MS = 60_000;

/** A service whose upstreams a data plane is asked to connect to. The message is signed: see `signed-question.ts`. */
export const connectionTestQuestionSchema = z.object({
  format: formatField(CONNECTION_TEST_FORMAT),
  /** The data plane that is asked. No other one answers the message. */
  data_plane: z.string(),
  /** When it was asked, by the clock of the control plane, ms since the Unix epoch. */
  asked_at_ms: z.number(),
  environment: z.string(),
  /** As in a snapshot, without a credential. */
  service: serviceSchema,
});

export type ConnectionTestQuestion = z.infer<typeof connectionTestQuestionSchema>;

/** A word of `ATTEMPT_ERRORS` or of a health check, or the code of a TLS error. */
const word = z.string().regex(/^\w{1,64}$/);

const durationMs = z.number().min(0);

/** What a data plane saw of one upstream. Nothing of a response but its status. */
export const testedUpstreamSchema = z.object({
  /** The id of the upstream in the question. */
  id: z.string().max(64),
  /** `healthy`: the response makes a health check succeed; `unhealthy`: it does not; `failed`: there was no response. */
  outcome: z.enum(['healthy', 'unhealthy', 'failed']),
  /** As in the reasons of upstream health: `status_204`, `connect_refused`. */
  detail: word,
  /** Of `tls_failed`: the code of the error, such as CERT_HAS_EXPIRED. null: not known. */
  tls_error: word.nullable(),
  /** The version of HTTP of the connection; null: none was opened. */
  protocol: z.enum(['http1', 'http2']).nullable(),
  /** null: no TLS. */
  tls_version: z
    .string()
    .regex(/^[\w.]{1,16}$/)
    .nullable(),
  /** When the certificate of the upstream ends, ms since the Unix epoch; null: not known, or no TLS. */
  certificate_ends_ms: z.number().nullable(),
  /** How long name, connection and handshakes took, ms; null: no connection was opened. */
  connect_ms: durationMs.nullable(),
  /** The same, and the response. */
  duration_ms: durationMs,
});

export type TestedUpstream = z.infer<typeof testedUpstreamSchema>;

/** Why a data plane has tested nothing. */
export const CONNECTION_TEST_PROBLEMS = [
  /** The question cannot be read by this version. */
  'unreadable',
  /** It is not signed with a key of this data plane, is for another data plane, or is too old. */
  'refused',
  /** The data plane does not serve the environment. */
  'not_served',
  /** It tests as many connections as it may. */
  'busy',
  /** It could not use the service for connections, or an error, which it has logged. */
  'failed',
] as const;

export type ConnectionTestProblem = (typeof CONNECTION_TEST_PROBLEMS)[number];

export const connectionTestAnswerSchema = z.object({
  format: formatField(CONNECTION_TEST_FORMAT),
  /** In the order of the question; empty if there is a problem. */
  upstreams: z.array(testedUpstreamSchema).max(1000),
  problem: z.enum(CONNECTION_TEST_PROBLEMS).nullable(),
});

export type ConnectionTestAnswer = z.infer<typeof connectionTestAnswerSchema>;
