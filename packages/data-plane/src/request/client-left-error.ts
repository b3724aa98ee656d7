/** The caller left before it got a response, so none is sent. */
export class ClientLeftError extends Error {
  override readonly name = 'ClientLeftError';
}
