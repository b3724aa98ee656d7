const MESSAGE_STREAM = /^application\/(?:grpc(?:-web)?(?:\+[^;]+)?|connect\+[^;]+)[\t ]*(?:;|$)/i;

/**
 * Whether a body of this `Content-Type` is a sequence of messages, each after five bytes: flags, and the length as four
 * bytes, the highest first. So are those of gRPC, of gRPC-Web without Base64 (not `application/grpc-web-text`), and of
 * streaming calls of Connect.
 */
export function isMessageStream(contentType: string | undefined): boolean {
  return contentType !== undefined && MESSAGE_STREAM.test(contentType);
}
