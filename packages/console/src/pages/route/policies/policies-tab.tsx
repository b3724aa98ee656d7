import { Paper } from '@mantine/core';
import type { Route } from '../../../api/client.ts';
import { useScope } from '../../../api/rights.ts';
import { joinedUnits } from '../../../ui/joined-units.ts';
import { TextLink } from '../../../ui/text-link.tsx';
import { visibleText } from '../../../ui/visible-text.ts';
import { explainPolicies } from './explain-policies.ts';
import classes from './policies-tab.module.css';

/** What happens to a request to the route, in the order of the stages; each leads to its field in the form. */
export function PoliciesTab({ route }: { readonly route: Route }) {
  const { allowed } = useScope('routes:write');
  return (
    <Paper withBorder>
      <dl className={classes.policies}>
        {explainPolicies(route).map(({ title, field, sentences }) => (
          <div key={title} className={classes.policy}>
            <dt className={classes.title}>{title}</dt>
            <dd className={classes.sentences}>
              {sentences.map((sentence) => (
                <p key={sentence}>{joinedUnits(visibleText(sentence))}</p>
              ))}
            </dd>
            {allowed && (
              <dd className={classes.edit}>
                <TextLink
                  to="/routes/$routeId/edit"
                  params={{ routeId: route.id }}
                  hash={field}
                  aria-label={`Edit ${title}`}
                >
                  Edit
                </TextLink>
              </dd>
            )}
          </div>
        ))}
      </dl>
    </Paper>
  );
}
