import { NativeSelect } from '@mantine/core';
import { LongTextField, TextField } from '../../ui/form/fields.tsx';
import { useField } from '../../ui/form/form-context.ts';

const PATH = 'tls.client_certificate';
const EMPTY = { cert_pem: '', key_pem: '' };

/** TLS to upstreams. A stored private key is never shown: it is kept, replaced or removed. */
export function TlsFields() {
  return (
    <>
      <LongTextField
        path="tls.ca_pem"
        label="Trusted roots"
        description="PEM. Only these are trusted, in place of those of the gateway."
        emptyMeans="Those of the gateway"
      />
      <TextField
        path="tls.server_name"
        label="Name of the server"
        description="Sent as SNI, and expected in the certificate"
        emptyMeans="The host of the upstream"
      />
      <ClientCertificate />
    </>
  );
}

function ClientCertificate() {
  const { value, original, error, set } = useField(PATH);
  const stored = original ?? null;
  const current = value ?? null;
  const choice = current === null ? 'none' : current === stored ? 'stored' : 'new';

  function choose(chosen: string): void {
    set(chosen === 'stored' ? stored : chosen === 'new' ? EMPTY : null);
  }

  return (
    <>
      <NativeSelect
        label="Client certificate"
        data-path={PATH}
        description="For mutual TLS. The key is stored encrypted."
        value={choice}
        error={error}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
        data={[
          ...(stored === null ? [] : [{ value: 'stored', label: 'Keep the one that is set' }]),
          { value: 'none', label: stored === null ? 'None' : 'None: remove it' },
          { value: 'new', label: 'A new one' },
        ]}
      />
      {choice === 'new' && (
        <>
          <LongTextField
            path={`${PATH}.cert_pem`}
            label="Certificate"
            description="PEM, with its chain"
          />
          <LongTextField
            path={`${PATH}.key_pem`}
            label="Private key"
            description="PEM, not encrypted. No response shows it."
          />
        </>
      )}
    </>
  );
}
