import { z } from 'zod';
import { formatField } from '../formats.ts';
import { explanationSchema } from './explanation.ts';

/** The format of both messages. */
export const EXPLAIN_FORMAT = 1;

/** Stands for the secret of the token `token_id` in the fields of a question. Only its form is that of a secret. */
export const STAND_IN_SECRET = `gwt_${'0'.repeat(43)}`;

/** The request that a data plane is asked about. */
export const explainQuestionSchema = z.object({
  format: formatField(EXPLAIN_FORMAT),
  /** The request target without its query: below `/v1/proxy/`, unless `asked` is given. */
  path: z.string(),
  /** With its question mark, or empty. */
  query: z.string(),
  method: z.string(),
  /** Names and values in turn, as on the wire, without framing. */
  fields: z.array(z.string()),
  /** null: none. */
  body: z.string().nullable(),
  /** The token whose secret `STAND_IN_SECRET` stands for; null: none. */
  token_id: z.string().nullable(),
  /** The remote address of the connection. */
  client_ip: z.string(),
  /** The route that is asked about, if the request does not name it; else null. */
  asked: z.object({ environment: z.string(), name: z.string() }).nullable().default(null),
});

export type AskedRoute = NonNullable<ExplainQuestion['asked']>;
export type ExplainQuestion = z.infer<typeof explainQuestionSchema>;

export const explainAnswerSchema = z.object({
  format: formatField(EXPLAIN_FORMAT),
  /** null: see `problem`. */
  explanation: explanationSchema.nullable(),
  /** Why there is none: the question cannot be read by this version, or an error, which the data plane has logged. */
  problem: z.enum(['unreadable', 'failed']).nullable(),
});

export type ExplainAnswer = z.infer<typeof explainAnswerSchema>;
