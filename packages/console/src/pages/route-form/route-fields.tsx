import {
  ChoiceField,
  ListField,
  NumberField,
  SwitchField,
  TextField,
} from '../../ui/form/fields.tsx';
import { FormSection } from '../../ui/form/form-section.tsx';
import { AuthFields, MethodsField } from './caller-fields.tsx';
import { TargetFields } from './target-fields.tsx';

/** Every field of a route. */
export function RouteFields({ environment }: { readonly environment: string }) {
  return (
    <>
      <FormSection title="Route">
        <TextField path="name" label="Name" description="The path is /v1/proxy/NAME" />
        <ChoiceField
          path="status"
          label="Status"
          description="Requests to a disabled route get 404"
          choices={[
            ['active', 'Active'],
            ['disabled', 'Disabled'],
          ]}
        />
      </FormSection>
      <FormSection title="Target">
        <TargetFields environment={environment} />
        <ListField
          path="regions"
          label="Regions"
          description="Used in this order if the own region of a data plane has no healthy upstream"
          placeholder="eu-west, us-east"
          separator="comma"
        />
      </FormSection>
      <FormSection title="Callers">
        <AuthFields />
      </FormSection>
      <FormSection title="Methods and bodies">
        <MethodsField />
        <NumberField
          path="max_body_bytes"
          label="Body size limit"
          description="Larger bodies get 413"
          unit="bytes"
        />
        <SwitchField
          path="allow_encoded_control_characters"
          label="Allow %09, %0A and %0D in paths"
        />
      </FormSection>
      <QuotaFields />
      <RetryFields />
      <FormSection title="Idempotency keys">
        <ChoiceField
          path="idempotency.mode"
          label="Who handles keys"
          choices={[
            ['store', 'The gateway: a request with a key runs once'],
            ['off', 'The upstream: the gateway passes keys on'],
          ]}
        />
        <SwitchField
          path="idempotency.required"
          label="Require an Idempotency-Key"
          description="Requests without one get 400"
        />
        <ChoiceField
          path="idempotency.on_unknown"
          label="If it is unknown whether the first request ran"
          choices={[
            ['refuse', 'Refuse the next one with 409'],
            ['forward', 'Forward the next one'],
          ]}
        />
        <ListField
          path="idempotency.repeatable_statuses"
          label="Run the same request again after these statuses"
          description="Of 408, 409, 423, 425, 429 and 503: if the upstream did not carry it out"
          separator="comma"
          numbers
        />
      </FormSection>
      <FormSection title="Log">
        <SwitchField
          path="access_log.enabled"
          label="Log requests"
          description="Every request has a record, logged or not"
        />
        <NumberField
          path="access_log.sample_ratio"
          label="Share of requests that are logged"
          description="From 0 to 1; failures of the upstream are always logged"
        />
      </FormSection>
    </>
  );
}

function QuotaFields() {
  return (
    <FormSection title="Quota" description="Further requests get 429.">
      <NumberField path="rate_limit.limit" label="Requests" description="In each window" />
      <NumberField
        path="rate_limit.window_seconds"
        label="Window"
        description="Aligned to the clock"
        unit="seconds"
      />
      <ChoiceField
        path="rate_limit.per"
        label="Counted for"
        choices={[
          ['route', 'All callers together'],
          ['token', 'Each caller'],
          ['ip', 'Each client address'],
        ]}
      />
      <ChoiceField
        path="rate_limit.on_store_unavailable"
        label="While NATS is away"
        choices={[
          ['share', 'Grant the part of each data plane'],
          ['refuse', 'Grant what is leased, then answer 503'],
        ]}
      />
    </FormSection>
  );
}

function RetryFields() {
  return (
    <FormSection title="Time and retries">
      <NumberField
        path="timeout_ms"
        label="Deadline"
        description="Until the response begins, with all retries"
        unit="ms"
      />
      <NumberField
        path="retry.per_attempt_timeout_ms"
        label="Timeout of one attempt"
        emptyMeans="The rest of the deadline"
        unit="ms"
      />
      <NumberField path="retry_count" label="Retries" description="After the first attempt" />
      <NumberField
        path="retry.backoff_ms"
        label="Backoff before the first retry"
        description="At most; doubled before each further one"
        unit="ms"
      />
      <ListField
        path="retry.on_statuses"
        label="Repeat after these statuses"
        description="429, or 500 to 599"
        separator="comma"
        numbers
      />
      <ChoiceField
        path="retry.unsafe_methods"
        label="Repeat POST and PATCH after sending"
        choices={[
          ['never', 'Never'],
          ['with_idempotency_key', 'Only with an Idempotency-Key'],
          ['always', 'Always: the upstream may run them twice'],
        ]}
      />
    </FormSection>
  );
}
