import { LightHeaders } from './light-headers.ts';
import { LightRequest } from './light-request.ts';
import { lightFetch } from './light-fetch.ts';

/**
 * Gives this process another fetch. That of Node is loaded when one of these globals is read for the first time, which takes
 * more CPU time than all the rest of a short command.
 */
export function useLightFetch(): void {
  const own = { fetch: lightFetch, Headers: LightHeaders, Request: LightRequest, FormData: NoForm };
  // Assigned, because to define a property of the name would load the one of Node.
  Object.assign(globalThis, own);
}

/** The client asks whether a body is a form. */
class NoForm {}
