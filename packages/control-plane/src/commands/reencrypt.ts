import { ConfigError } from '@gateway/shared/config/environment';
import { systemRandom } from '@gateway/shared/ids';
import { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { readConfig, type Config } from '../config.ts';
import { reencryptClientKeys, reencryptCredentials } from '../services/store/reencrypt.ts';
import { openDatabase } from '../store/database.ts';

/**
 * The command that encrypts all upstream credentials and client keys again with the newest of `GATEWAY_MASTER_KEYS`.
 * docs/run/security.md has the procedure. Exits with 0 if no other key is in use any more, else with 1.
 */
const say = (line: string) => process.stdout.write(`${line}\n`);

function load(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`re-encryption failed: ${error.message}\n`);
    process.exit(1);
  }
}

const config = load();
const log = createLogger('reencrypt', config.LOG_LEVEL);
const database = openDatabase({ url: config.DATABASE_URL, log, maxConnections: 1 });
const vault = new CredentialVault(config.GATEWAY_MASTER_KEYS, systemRandom);
try {
  const { reencrypted, unreadable, withNewest, withOthers } = await reencryptCredentials(
    database.db,
    vault,
  );
  for (const { serviceId, why } of unreadable)
    say(`${serviceId}: the credential cannot be decrypted: ${why}`);
  say(
    `re-encrypted: ${reencrypted}; under the key ${vault.newestKeyId}: ${withNewest}; ` +
      `under others: ${withOthers}, of which cannot be decrypted: ${unreadable.length}`,
  );
  const keys = await reencryptClientKeys(database.db, vault);
  for (const { serviceId, why } of keys.unreadable) {
    say(`${serviceId}: the client key cannot be decrypted: ${why}`);
  }
  say(`client keys re-encrypted: ${keys.reencrypted}; under others: ${keys.withOthers}`);
  if (withOthers > 0 || keys.withOthers > 0) process.exitCode = 1;
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`re-encryption failed: ${reason}\n`);
  process.exitCode = 1;
} finally {
  await database.close();
}
