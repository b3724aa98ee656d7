import { SERVICE_FORM, type FormField, type FormFields } from '@gateway/client/form-fields';
import { DefinedField } from '../../ui/form/defined-field.tsx';
import { fieldWords } from '../../ui/form/field-help.ts';
import { TextField } from '../../ui/form/fields.tsx';
import { useField } from '../../ui/form/form-context.ts';

const FIELDS: FormFields = SERVICE_FORM['health_check']?.fields ?? {};
/** They ask for the same in two ways: a path in HTTP, a service in gRPC. */
const { type, grpc_service: grpcService, path: _path, ...others } = FIELDS;

/** How upstreams are checked: first what is asked, then how often. */
export function HealthCheckFields() {
  const isGrpc = useField('health_check.type').value === 'grpc';
  return (
    <>
      <Defined name="type" field={type} />
      {isGrpc ? <Defined name="grpc_service" field={grpcService} /> : <PathField />}
      {Object.entries(others).map(([name, field]) => (
        <Defined key={name} name={name} field={field} />
      ))}
    </>
  );
}

function Defined({
  name,
  field,
}: {
  readonly name: string;
  readonly field: FormField | undefined;
}) {
  if (field === undefined) throw new Error(`The API has no field health_check.${name}.`);
  return <DefinedField path={`health_check.${name}`} field={field} form={SERVICE_FORM} />;
}

/** The path that is asked for. The API has two fields for it: `health_check.path`, if it is set, overrides `health_path`. */
function PathField() {
  const usual = useField('health_path').value;
  const isOverridden = typeof useField('health_check.path').original === 'string';
  const field = SERVICE_FORM['health_path'];
  if (field === undefined) throw new Error('The API has no field health_path.');
  const { description } = fieldWords(field, SERVICE_FORM);
  const shared = { label: field.label, description };
  if (!isOverridden) return <TextField path="health_path" {...shared} />;
  const emptyMeans = typeof usual === 'string' ? usual : '';
  return <TextField path="health_check.path" emptyMeans={emptyMeans} {...shared} />;
}
