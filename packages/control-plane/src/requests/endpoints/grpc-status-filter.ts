import { MAX_GRPC_STATUS } from '@gateway/shared/http/grpc-status';
import { textParameter } from '../../http/list-query.ts';

/** A filter of requests by the gRPC status with which they ended. */
export const grpcStatusFilter = textParameter()
  .regex(/^(?:\d|1[0-6])$/, { error: `must be a gRPC status from 0 to ${MAX_GRPC_STATUS}` })
  .transform(Number)
  .optional()
  .meta({
    type: 'integer',
    pattern: undefined,
    minimum: 0,
    maximum: MAX_GRPC_STATUS,
    description: 'Only gRPC calls that ended with this status.',
    examples: [14],
  });
