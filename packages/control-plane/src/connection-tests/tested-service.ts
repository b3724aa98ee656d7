import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { withDefaults } from '@gateway/shared/definitions/derived-schemas';
import { serviceFields } from '@gateway/shared/definitions/service';
import {
  CHECK_TYPE_FAULT,
  isCheckContradiction,
  newHealthCheckField,
  timeoutFault,
} from '@gateway/shared/definitions/service-health-check';
import type { SnapshotService } from '@gateway/shared/snapshot/schema';
import { compileService } from '../publish/compile.ts';
import { invalidField } from '../http/input.ts';
import { changeService, type Service, type ServiceSettings } from '../services/service.ts';
import { NO_TLS_SETTINGS } from '../services/service-tls.ts';
import { urlFault } from '../services/service-upstreams.ts';
import type { ServiceSecrets } from '../services/replace-service.ts';
import type { ConnectionTestInput } from './test-input.ts';

export interface TestedServiceOptions {
  /** That of the stored service, or a new one. */
  readonly id: string;
  readonly newUpstreamId: () => string;
  readonly secrets: Pick<ServiceSecrets, 'sealTls'>;
}

/**
 * The service whose connections are tested, as data planes read it: the stored one with what the body changes, or one with
 * defaults. Its credential is left out.
 *
 * @throws GatewayError invalid_request, resource_unreadable
 */
export function testedService(
  input: ConnectionTestInput,
  stored: Service | undefined,
  { id, newUpstreamId, secrets }: TestedServiceOptions,
): SnapshotService {
  const before = stored === undefined ? newSettings(input) : withDefaults(serviceFields, stored);
  const { environment: _environment, service_id: _id, data_plane: _plane, ...change } = input;
  const refused = urlFault(change, before.upstreams);
  if (refused !== undefined) throw invalidField('url', refused);
  const settings = changeService(before, change, newUpstreamId, noCredential, secrets.sealTls);
  const fault = change.health_check && timeoutFault(settings.health_check);
  if (fault !== undefined) throw invalidField('health_check.timeout_ms', fault);
  if (isCheckContradiction(settings.health_check, settings.protocol)) {
    throw invalidField('health_check.type', CHECK_TYPE_FAULT);
  }
  const compiled = compileService({ ...settings, credential: null, id, revision: 0 });
  if (!('unusable' in compiled)) return compiled;
  throw new GatewayError(
    'resource_unreadable',
    `This release cannot read the service ${settings.name} (${id}), which another release has stored.`,
  );
}

/** With the timeout of checks that a new service has for its interval. */
function newSettings({ health_check: check }: ConnectionTestInput): ServiceSettings {
  return {
    ...withDefaults(serviceFields, { name: 'new' } as ServiceSettings),
    health_check: newHealthCheckField.parse(
      check === undefined ? {} : { interval_ms: check.interval_ms },
    ),
    upstreams: [],
    credential: null,
    ...NO_TLS_SETTINGS,
  };
}

function noCredential(): never {
  throw new Error('a test has no credential');
}
