import { Checkbox, Radio, Stack } from '@mantine/core';
import { useState } from 'react';
import { DEFAULT_METHODS } from '../../api/default-methods.ts';
import { ListField, TextField } from '../../ui/form/fields.tsx';
import { useField } from '../../ui/form/form-context.ts';
import { JsonField } from '../../ui/form/json-field.tsx';

const AUTH_TYPES = [
  ['token', 'Token, as Authorization: Bearer or as a password'],
  ['api_key', 'Token, as X-API-Key'],
  ['jwt', 'JWT of an issuer'],
  ['none', 'Nothing: anybody may call'],
] as const;
const NEW_JWT = {
  type: 'jwt',
  issuer: '',
  audience: [],
  jwks_url: '',
  algorithms: ['RS256', 'ES256'],
  required_claims: {},
};

/** How callers authenticate. */
export function AuthFields() {
  const auth = useField('auth');
  const type = useField('auth.type').value;
  // Another choice and back again loses nothing that was typed.
  const [jwt, setJwt] = useState<unknown>(NEW_JWT);
  return (
    <>
      <AuthType
        onChoose={(chosen) => {
          if (type === 'jwt') setJwt(auth.value);
          auth.set(chosen === 'jwt' ? jwt : { type: chosen });
        }}
      />
      {type === 'jwt' && (
        <>
          <TextField path="auth.issuer" label="Issuer" description="The value of the claim iss" />
          <ListField
            path="auth.audience"
            label="Audiences"
            description="One in each line; the claim aud names one of them"
            separator="line"
          />
          <TextField
            path="auth.jwks_url"
            label="URL of the keys"
            description="The key set of the issuer"
          />
          <ListField
            path="auth.algorithms"
            label="Algorithms"
            description="RS, PS and ES with 256, 384 or 512, and EdDSA or Ed25519"
            separator="comma"
          />
          <JsonField
            path="auth.required_claims"
            label="Required claims"
            description={
              'The values that each claim may have, such as {"role": ["admin"]}, or a list of names'
            }
          />
        </>
      )}
    </>
  );
}

function AuthType({ onChoose }: { readonly onChoose: (type: string) => void }) {
  const { value, errorWithin } = useField('auth.type');
  return (
    <Radio.Group
      label="Callers send"
      value={typeof value === 'string' ? value : ''}
      onChange={onChoose}
      error={errorWithin}
    >
      <Stack gap={6} pt="xs">
        {AUTH_TYPES.map(([type, label]) => (
          <Radio key={type} value={type} label={label} />
        ))}
      </Stack>
    </Radio.Group>
  );
}

/** Which methods the route accepts: the usual ones, or those of a list. */
export function MethodsField() {
  const { value, set } = useField('methods');
  const hasList = Array.isArray(value);
  return (
    <Stack gap="xs">
      <ChoiceOfMethods isAll={!hasList} onChange={(all) => set(all ? null : DEFAULT_METHODS)} />
      {hasList && (
        <ListField
          path="methods"
          label="Accepted methods"
          description="Any but CONNECT and TRACE, such as GET, PROPFIND or QUERY"
          separator="comma"
        />
      )}
    </Stack>
  );
}

interface ChoiceOfMethodsProps {
  readonly isAll: boolean;
  readonly onChange: (isAll: boolean) => void;
}

function ChoiceOfMethods({ isAll, onChange }: ChoiceOfMethodsProps) {
  return (
    <Checkbox
      label={`Only ${DEFAULT_METHODS.join(', ')}`}
      checked={isAll}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
}
