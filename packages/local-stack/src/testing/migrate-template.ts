import { existsSync } from 'node:fs';

/** Applies every migration to the database, once the control plane has some. */
export async function migrateTemplate(databaseUrl: string): Promise<void> {
  const file = new URL('../../../control-plane/src/store/migrate.ts', import.meta.url);
  if (!existsSync(file)) return;
  const name = '@gateway/control-plane/store/migrate';
  const { migrate } = (await import(name)) as { migrate: (url: string) => Promise<void> };
  await migrate(databaseUrl);
}
