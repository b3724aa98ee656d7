import { fieldValue, type HeaderFields } from '@gateway/http/fields/header-fields';
import { toBuffer, type BodyBytes } from '@gateway/http/message/body-bytes';
import type { ClientRequest } from '@gateway/http/exchange';
import { isGrpcContentType } from '@gateway/shared/http/grpc';
import { grpcFailureName } from '@gateway/shared/http/grpc-status';
import { responseStatus } from '../../request/grpc-response-status.ts';
import type { ResponseSink, UpstreamResponse } from '../../request/upstream-response.ts';

import type { CheckResult } from './upstream-state.ts';
import { healthRequest, servingStatusOf } from './health-messages.ts';

const PATH = '/grpc.health.v1.Health/Check';
const FIELDS = [
  ...['content-type', 'application/grpc', 'te', 'trailers'],
  ...['user-agent', 'gateway-health-check'],
];
/** A HealthCheckResponse has at most 7 bytes with its prefix. */
const MAX_BODY_BYTES = 64;

/** The call that asks a server for the health of a service. */
export function grpcCheckRequest(service: string): ClientRequest {
  const body = healthRequest(service);
  return { method: 'POST', path: PATH, fields: FIELDS, body, contentLength: body.length };
}

/** Receives the response to such a call, and says what it means. */
export class GrpcCheck implements ResponseSink {
  readonly #response: UpstreamResponse;
  readonly #over: (result: CheckResult) => void;
  #body = Buffer.alloc(0);

  constructor(response: UpstreamResponse, over: (result: CheckResult) => void) {
    this.#response = response;
    this.#over = over;
  }

  /** @returns what receives the rest; undefined: the head says all */
  head(last: boolean): ResponseSink | undefined {
    const { status, fields } = this.#response;
    if (status !== 200) this.#bad(`status_${status}`);
    else if (last) this.#ended(fields);
    else if (!isGrpcContentType(fieldValue(fields, 'content-type'))) this.#bad('no_grpc_response');
    else return this;
    return undefined;
  }

  data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    if (bytes.length > 0) this.#body = Buffer.concat([this.#body, toBuffer(bytes)]);
    if (last) this.#ended(trailers);
    else if (this.#body.length > MAX_BODY_BYTES) {
      this.#response.cancel();
      this.#bad('no_grpc_response');
    }
  }

  #ended(end: HeaderFields | undefined): void {
    const grpcStatus = responseStatus(200, end) ?? 0;
    if (grpcStatus !== 0) {
      this.#bad(grpcFailureName(grpcStatus));
      return;
    }
    const serving = servingStatusOf(this.#body);
    if (serving === 'serving') this.#over({ verdict: 'good', detail: 'grpc_serving' });
    else this.#bad(serving === undefined ? 'no_grpc_response' : `grpc_health_${serving}`);
  }

  #bad(detail: string): void {
    this.#over({ verdict: 'bad', detail });
  }

  delivered(): void {
    // The rest comes.
  }

  stalled(): void {
    // It never pauses.
  }

  broken(): void {
    this.#bad('reset');
  }
}
