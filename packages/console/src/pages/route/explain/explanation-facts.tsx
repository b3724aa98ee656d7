import type { ReactNode } from 'react';
import type { Explanation } from '../../../api/client.ts';
import { CopyChip } from '../../../ui/copy-chip.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { TextLink } from '../../../ui/text-link.tsx';
import { factsOf } from './outcome-text.ts';

interface ExplanationFactsProps {
  /** With names in place of ids. */
  readonly readable: Explanation;
  /** As the API says it. */
  readonly explanation: Explanation;
}

/** The facts that the decision was made of. What has a page is a link to it. */
export function ExplanationFacts({ readable, explanation }: ExplanationFactsProps) {
  const linked: Readonly<Record<string, ReactNode>> = {
    Configuration: configurationFact(explanation),
    Authentication: tokenFact(readable, explanation),
    Version: versionFact(explanation),
    Mirror: mirrorFact(readable, explanation),
  };
  return <Facts facts={factsOf(readable).map(([name, text]) => [name, linked[name] ?? text])} />;
}

/** Pages that an explanation leads to show its environment. */
function environmentOf({ environment }: Explanation) {
  return environment === null ? {} : { environment };
}

function configurationFact(explanation: Explanation): ReactNode {
  const version = explanation.config_version;
  if (version === null) return undefined;
  return (
    <TextLink
      to="/configuration/$version"
      params={{ version: String(version) }}
      search={environmentOf(explanation)}
      inherit
    >
      version {version}
    </TextLink>
  );
}

/** The token by its name, which leads to its requests as on the page of a request. */
function tokenFact(readable: Explanation, explanation: Explanation): ReactNode {
  const { type, refused_by: rule, token_id: token } = explanation.authentication;
  if (token === null) return undefined;
  const name = readable.authentication.token_id;
  return (
    <>
      {type ?? 'unknown'},{' '}
      <TextLink to="/requests" search={{ token, ...environmentOf(explanation) }} inherit>
        {name}
      </TextLink>
      {rule !== null && `, ${rule.replaceAll('_', ' ')}`}
      {name !== token && (
        <>
          {' '}
          <CopyChip text={token} what="the id of the token" isPlain />
        </>
      )}
    </>
  );
}

function versionFact(explanation: Explanation): ReactNode {
  const { version } = explanation;
  if (version === null) return undefined;
  return (
    <>
      {version.name ?? 'the only one'}, to{' '}
      <ServiceLink
        explanation={explanation}
        serviceId={version.service_id}
        name={version.service}
      />
    </>
  );
}

function mirrorFact({ mirror: said }: Explanation, explanation: Explanation): ReactNode {
  const { mirror } = explanation;
  if (mirror === null || mirror.service === null) return undefined;
  return (
    <>
      <ServiceLink explanation={explanation} serviceId={mirror.service_id} name={mirror.service} />:{' '}
      {said?.reason}
    </>
  );
}

interface ServiceLinkProps {
  readonly explanation: Explanation;
  readonly serviceId: string;
  readonly name: string;
}

function ServiceLink({ explanation, serviceId, name }: ServiceLinkProps) {
  return (
    <TextLink
      to="/services/$serviceId"
      params={{ serviceId }}
      search={environmentOf(explanation)}
      inherit
    >
      {name}
    </TextLink>
  );
}
