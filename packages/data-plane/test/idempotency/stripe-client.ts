import Stripe from 'stripe';

/** How a call of the SDK ended. */
export interface SdkEnd {
  /** The status of the last response; undefined: there was none. */
  readonly status: number | undefined;
  /** The number of requests that the SDK sent. */
  readonly sent: number;
}

interface SdkTarget {
  readonly url: string;
  readonly path: string;
  readonly apiKey: string;
  /** How long the SDK waits for each response, ms. */
  readonly timeoutMs: number;
}

/** The SDK's own default: two retries, each with the key of the first request. */
const RETRIES = 2;

/** Sends one POST with Stripe's SDK. Only the pauses before its retries are shorter than usual: there are none. */
export async function postWithSdk({ url, path, apiKey, timeoutMs }: SdkTarget): Promise<SdkEnd> {
  const { hostname, port } = new URL(url);
  const stripe = new Stripe(apiKey, {
    host: hostname,
    port,
    protocol: 'http',
    maxNetworkRetries: RETRIES,
    timeout: timeoutMs,
    telemetry: false,
  });
  Object.assign(stripe, {
    getInitialNetworkRetryDelay: () => 0,
    getMaxNetworkRetryDelay: () => 0,
  });
  let sent = 0;
  stripe.on('request', () => void (sent += 1));
  try {
    const { lastResponse } = await stripe.rawRequest('POST', path, { amount: '5' });
    return { status: lastResponse.statusCode, sent };
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    return { status: error.statusCode, sent };
  }
}
