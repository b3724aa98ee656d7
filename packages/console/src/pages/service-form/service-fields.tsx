import { NumberField, SwitchField, TextField } from '../../ui/form/fields.tsx';
import { FormSection } from '../../ui/form/form-section.tsx';
import { CredentialFields } from './credential-fields.tsx';
import { TlsFields } from './tls-fields.tsx';
import { UpstreamFields } from './upstream-fields.tsx';

/** Every field of a service. */
export function ServiceFields() {
  return (
    <>
      <FormSection title="Service" columns={1}>
        <TextField path="name" label="Name" description="Unique in its environment" />
      </FormSection>
      <FormSection
        title="Upstreams"
        description="Requests are divided between the healthy ones, by weight. Data planes prefer those of their own region."
        columns={1}
      >
        <UpstreamFields />
      </FormSection>
      <FormSection title="Health check">
        <TextField
          path="health_path"
          label="Path"
          description="Healthy: a status from 200 to 299"
        />
        <TextField
          path="health_check.path"
          label="Path override"
          description="Replaces the path, if set"
          emptyMeans="none"
        />
        <NumberField
          path="health_check.interval_ms"
          label="Interval"
          description="From one check of an upstream to the next"
          unit="ms"
        />
        <NumberField
          path="health_check.timeout_ms"
          label="Timeout"
          description="At most the interval"
          unit="ms"
        />
        <NumberField
          path="health_check.unhealthy_threshold"
          label="Unhealthy after"
          description="Failures in a row"
        />
        <NumberField
          path="health_check.healthy_threshold"
          label="Healthy after"
          description="Successes in a row"
        />
      </FormSection>
      <FormSection title="Authentication at upstreams">
        <CredentialFields />
      </FormSection>
      <FormSection title="TLS to https upstreams">
        <TlsFields />
      </FormSection>
      <LimitFields />
      <FormSection title="Requests to upstreams">
        <SwitchField
          path="send_via"
          label="Via"
          description="Name the gateway in Via; nginx, for one, does not compress responses then"
        />
      </FormSection>
    </>
  );
}

function LimitFields() {
  return (
    <FormSection
      title="Limits in each data plane"
      description="They keep a slow service from using up what the others need."
    >
      <NumberField
        path="limits.max_in_flight"
        label="Concurrent requests"
        description="And as many WebSockets"
        emptyMeans="Half of the data plane"
      />
      <NumberField
        path="limits.max_connections"
        label="Connections"
        description="To each upstream"
        emptyMeans="As the data plane is set"
      />
      <NumberField
        path="limits.max_pending"
        label="Waiting requests"
        description="For a connection to each upstream"
        emptyMeans="Twice the connections, at least 100"
      />
      <SwitchField
        path="limits.adaptive"
        label="Adaptive"
        description="Lower the limit of requests while latency rises"
      />
    </FormSection>
  );
}
