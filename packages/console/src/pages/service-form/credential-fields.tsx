import { NativeSelect } from '@mantine/core';
import { valueAt } from '../../ui/form/draft.ts';
import { SecretField, TextField } from '../../ui/form/fields.tsx';
import { useField } from '../../ui/form/form-context.ts';
import { localTime } from '../../ui/time-text.ts';

/** The body of each kind of credential, before it is filled in. */
const EMPTY = {
  bearer: { type: 'bearer', token: '' },
  basic: { type: 'basic', username: '', password: '' },
  header: { type: 'header', name: '', value: '' },
} as const;

type Kind = keyof typeof EMPTY;

const isKind = (value: unknown): value is Kind =>
  typeof value === 'string' && Object.hasOwn(EMPTY, value);

/** What the gateway sends to upstreams. A stored secret is never shown: it is kept, replaced or removed. */
export function CredentialFields() {
  const { value, original, errorWithin, set } = useField('credential');
  const stored = original ?? null;
  const type = valueAt(value, 'type');
  const choice = value === stored && stored !== null ? 'stored' : isKind(type) ? type : 'none';

  function choose(chosen: string): void {
    set(chosen === 'stored' ? stored : isKind(chosen) ? EMPTY[chosen] : null);
  }

  return (
    <>
      <NativeSelect
        label="Credential"
        data-path="credential"
        description="Sent to the upstreams. It is stored encrypted."
        value={choice}
        error={isKind(choice) ? undefined : errorWithin}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
        data={[
          ...(stored === null ? [] : [{ value: 'stored', label: storedText(stored) }]),
          { value: 'none', label: stored === null ? 'None' : 'None: remove it' },
          { value: 'bearer', label: stored === null ? 'Bearer token' : 'A new bearer token' },
          { value: 'basic', label: 'User name and password' },
          { value: 'header', label: 'A header of any name' },
        ]}
      />
      {choice === 'bearer' && <SecretField path="credential.token" label="Bearer token" />}
      {choice === 'basic' && (
        <>
          <TextField path="credential.username" label="User name" />
          <SecretField path="credential.password" label="Password" />
        </>
      )}
      {choice === 'header' && (
        <>
          <TextField path="credential.name" label="Name of the header" />
          <SecretField path="credential.value" label="Value of the header" />
        </>
      )}
    </>
  );
}

/** Its header stands in the sentence of the section. */
function storedText(stored: unknown): string {
  const at = valueAt(stored, 'set_at');
  return typeof at === 'string' ? `Keep the one of ${localTime(at)}` : 'Keep the one that is set';
}
