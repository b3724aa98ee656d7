import type { Session } from '../../session.ts';

/** The name of a token, when it ends, and when it was last used: requests are not counted by token. */
export async function tokenUse(
  { client }: Session,
  id: string,
): Promise<{ readonly name: string; readonly line: string; readonly expiresAt: string | null }> {
  const { body } = await client.get('/v1/tokens/{id}', { params: { path: { id } } });
  const { name, last_used_at: usedAt, expires_at: expiresAt } = body.data;
  const line =
    usedAt === null ? `Token ${name} was never used.` : `Token ${name} was last used at ${usedAt}.`;
  return { name, line, expiresAt };
}
