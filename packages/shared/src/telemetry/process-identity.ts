/** How a process names itself in logs and to OpenTelemetry. */
export interface ProcessIdentity {
  /** `service.name`: what kind of process it is. */
  readonly service: string;
  /** `service.instance.id`: which of them. */
  readonly instance: string;
}
