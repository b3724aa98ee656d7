import { Instruments } from '@gateway/shared/telemetry/instruments';
import { Gauge, type Counter, type Registry } from 'prom-client';

/**
 * How requests of the console end: with a response, also one that is cut; without one from the data plane; because the
 * browser left; refused by the control plane, which sent nothing.
 */
export const SEND_RESULTS = ['answered', 'unreachable', 'silent', 'left', 'refused'] as const;

export interface SendMetrics {
  readonly sends: Counter<'result'>;
  readonly minted: Counter;
  /** Registers the gauge of requests that are being sent. */
  observe(sending: () => number): void;
}

/** Creates the metrics of requests that the console sends. */
export function createSendMetrics(registry: Registry): SendMetrics {
  const instruments = new Instruments(registry);
  return {
    sends: instruments.counterBy(
      'gateway_control_plane_console_sends_total',
      'Requests that the console sent through a data plane, by result',
      'result',
      SEND_RESULTS,
    ),
    minted: instruments.counter(
      'gateway_control_plane_console_send_tokens_total',
      'Tokens of ten minutes that were created for requests of the console',
    ),
    observe(sending) {
      new Gauge({
        name: 'gateway_control_plane_console_sending',
        help: 'Requests of the console that are being sent',
        registers: [registry],
        collect() {
          this.set(sending());
        },
      });
    },
  };
}
