import { ERROR_CODES } from '@gateway/shared/errors/error-table';
import { METHOD_TOKEN } from '@gateway/shared/http/methods';
import { OUTCOMES, RECORD_KINDS } from '@gateway/shared/records/record';
import { choiceField, exampleId } from '@gateway/shared/definitions/fields';
import { environmentFilter, textParameter } from '../../http/list-query.ts';
import { grpcStatusFilter } from './grpc-status-filter.ts';
import { statusClassFilter } from './status-class.ts';

/** The filters of records, as query parameters. */
export const requestFilters = {
  environment: environmentFilter,
  /** Any text: the record of a refused request has the name in its path, even if it is not valid. */
  route: textParameter()
    .regex(/^[^\0]{0,255}$/, { error: 'must be at most 255 characters without NUL' })
    .optional()
    .meta({ description: 'Only requests to the route of this name.', examples: ['charges'] }),
  status: textParameter()
    .regex(/^[1-5]\d\d$/, { error: 'must be a status code from 100 to 599' })
    .transform(Number)
    .optional()
    .meta({
      type: 'integer',
      pattern: undefined,
      minimum: 100,
      maximum: 599,
      description: 'Only requests that were answered with this status.',
      examples: [502],
    }),
  status_class: statusClassFilter,
  grpc_status: grpcStatusFilter,
  outcome: choiceField(OUTCOMES)
    .optional()
    .meta({
      description: 'Only requests that ended like this.',
      examples: ['timeout'],
    }),
  failed: choiceField(['true'])
    .optional()
    .meta({
      description:
        'Only requests that count as errors: with the outcome `upstream_error`, `upstream_unavailable` or `timeout`, or with a status of 500 or more and another outcome than `success`.',
      examples: ['true'],
    }),
  kind: choiceField(RECORD_KINDS)
    .default('request')
    .meta({
      description: 'Only records of this kind.',
      examples: ['request'],
    }),
  token_id: exactParameter('Only requests with the token of this id.', exampleId('tok')),
  method: textParameter()
    .regex(METHOD_TOKEN, { error: 'must be a method of HTTP' })
    .optional()
    .meta({ description: 'Only requests with this method.', examples: ['POST'] }),
  error_code: choiceField(ERROR_CODES)
    .optional()
    .meta({
      description: 'Only requests that the gateway answered with this error.',
      examples: ['upstream_timeout'],
    }),
  upstream: textParameter()
    .regex(/^[^\0]{1,2048}$/, { error: 'must be 1 to 2048 characters without NUL' })
    .optional()
    .meta({
      description: 'Only requests whose last attempt went to the upstream with this id or URL.',
      examples: ['https://payments.internal:8443'],
    }),
  min_duration_ms: textParameter()
    .regex(/^\d{1,9}$/, { error: 'must be a whole number of milliseconds' })
    .transform(Number)
    .optional()
    .meta({
      type: 'integer',
      pattern: undefined,
      minimum: 0,
      maximum: 999_999_999,
      description: 'Only requests that took at least this long, in milliseconds.',
      examples: [500],
    }),
};

/** A filter by an exact text. */
function exactParameter(description: string, example: string) {
  return textParameter()
    .regex(/^[^\0]{1,64}$/, { error: 'must be 1 to 64 characters without NUL' })
    .optional()
    .meta({ description, examples: [example] });
}
