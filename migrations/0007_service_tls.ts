import { sql, type Kysely } from 'kysely';

/**
 * How a service's upstreams are connected to over TLS. `tls`: null, or `{ca_pem, server_name,
 * client_certificate: {cert_pem, set_at} | null}`. `client_key`: the private key of that certificate as
 * `{key_id, sealed}`, of no use without the master key `key_id`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE services
      ADD COLUMN tls jsonb,
      ADD COLUMN client_key jsonb
  `.execute(db);
}
