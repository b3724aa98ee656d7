import { z } from 'zod';

/** A function in a profile of V8. One that is built in has no URL. */
export const callFrameSchema = z.object({
  functionName: z.string(),
  url: z.string(),
  lineNumber: z.int(),
});

export type CallFrame = z.infer<typeof callFrameSchema>;

/** The name of a function with its file and line. */
export function nameOf({ functionName, url, lineNumber }: CallFrame): string {
  const file = url.replace(/^.*\/(?:node_modules|packages)\//, '').replace(/^.*\/(?=bench\/)/, '');
  const where = url === '' ? '' : ` (${file}:${lineNumber + 1})`;
  return `${functionName === '' ? 'anonymous' : functionName}${where}`;
}
