import Stripe from 'stripe';

interface SdkTarget {
  readonly url: string;
  readonly path: string;
  readonly apiKey: string;
  /** How long the SDK waits for each response, ms. */
  readonly timeoutMs: number;
}

/** The SDK's own default. Each retry has the key of the first request. */
const RETRIES = 2;

/**
 * Sends one POST with Stripe's SDK. Only the pauses before its retries are shorter than usual: there are none.
 *
 * @returns the status of the last response; undefined: there was none
 */
export async function postWithSdk(target: SdkTarget): Promise<number | undefined> {
  const { hostname, port } = new URL(target.url);
  const stripe = new Stripe(target.apiKey, {
    host: hostname,
    port,
    protocol: 'http',
    maxNetworkRetries: RETRIES,
    timeout: target.timeoutMs,
    telemetry: false,
  });
  Object.assign(stripe, {
    getInitialNetworkRetryDelay: () => 0,
    getMaxNetworkRetryDelay: () => 0,
  });
  try {
    const result: unknown = await stripe.rawRequest('POST', target.path, { amount: '5' });
    return (result as { lastResponse: { statusCode: number } }).lastResponse.statusCode;
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    return error.statusCode;
  }
}
