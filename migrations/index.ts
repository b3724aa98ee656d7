/** Generated from the files of this folder by `npm run generate`. */
import type { Migration } from 'kysely/migration';
import * as m0001 from './0001_configuration.ts';
import * as m0002 from './0002_publication.ts';
import * as m0003 from './0003_records_and_audit.ts';
import * as m0004 from './0004_service_limits.ts';
import * as m0005 from './0005_encoded_control_characters.ts';
import * as m0006 from './0006_idempotency_keys.ts';
import * as m0007 from './0007_deleted_environments.ts';
import * as m0010 from './0010_request_statistics.ts';
import * as m0011 from './0011_console_sessions.ts';
import * as m0012 from './0012_access_log.ts';
import * as m0013 from './0013_environment_identity.ts';
import * as m0014 from './0014_token_names_and_replaced_secrets.ts';
import * as m0015 from './0015_record_batches.ts';
import * as m0016 from './0016_restored_versions.ts';
import * as m0020 from './0020_via_to_upstreams.ts';
import * as m0022 from './0022_audit_event_indexes.ts';
import * as m0023 from './0023_idempotency_key_sizes.ts';
import * as m0024 from './0024_retention_of_tokens.ts';
import * as m0026 from './0026_early_hints.ts';
import * as m0027 from './0027_route_matches.ts';
import * as m0035 from './0035_record_kinds.ts';
import * as m0036 from './0036_locations.ts';
import * as m0037 from './0037_body_times.ts';
import * as m0038 from './0038_route_affinity.ts';
import * as m0039 from './0039_route_rewriting.ts';
import * as m0040 from './0040_fixed_answers.ts';
import * as m0041 from './0041_route_cors.ts';
import * as m0042 from './0042_route_mirrors.ts';
import * as m0043 from './0043_upstream_protocol.ts';
import * as m0044 from './0044_websocket_protocol.ts';
import * as m0045 from './0045_grpc_errors.ts';
import * as m0046 from './0046_route_streaming.ts';
import * as m0048 from './0048_grpc_statuses.ts';
import * as m0050 from './0050_secret_prefixes.ts';
import * as m0051 from './0051_limited_requests.ts';

/** Every migration under the name by which the database knows it: that of its file. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001_configuration': m0001,
  '0002_publication': m0002,
  '0003_records_and_audit': m0003,
  '0004_service_limits': m0004,
  '0005_encoded_control_characters': m0005,
  '0006_idempotency_keys': m0006,
  '0007_deleted_environments': m0007,
  '0010_request_statistics': m0010,
  '0011_console_sessions': m0011,
  '0012_access_log': m0012,
  '0013_environment_identity': m0013,
  '0014_token_names_and_replaced_secrets': m0014,
  '0015_record_batches': m0015,
  '0016_restored_versions': m0016,
  '0020_via_to_upstreams': m0020,
  '0022_audit_event_indexes': m0022,
  '0023_idempotency_key_sizes': m0023,
  '0024_retention_of_tokens': m0024,
  '0026_early_hints': m0026,
  '0027_route_matches': m0027,
  '0035_record_kinds': m0035,
  '0036_locations': m0036,
  '0037_body_times': m0037,
  '0038_route_affinity': m0038,
  '0039_route_rewriting': m0039,
  '0040_fixed_answers': m0040,
  '0041_route_cors': m0041,
  '0042_route_mirrors': m0042,
  '0043_upstream_protocol': m0043,
  '0044_websocket_protocol': m0044,
  '0045_grpc_errors': m0045,
  '0046_route_streaming': m0046,
  '0048_grpc_statuses': m0048,
  '0050_secret_prefixes': m0050,
  '0051_limited_requests': m0051,
};
