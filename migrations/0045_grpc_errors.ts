import { addSetting } from './add-setting.ts';

/** Whether gRPC calls of a route get errors of the gateway with their HTTP status, or with 200 and a gRPC status. */
export const up = addSetting('routes', 'grpc_errors');
