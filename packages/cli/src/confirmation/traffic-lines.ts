import { requestsOfLastHour, trafficText, type TrafficFilter } from '@gateway/client/lost-traffic';
import type { Session } from '../session.ts';

/** How many requests something had in the last hour, such as `route charges`. */
export async function trafficLine(
  { client }: Session,
  subject: string,
  filter: TrafficFilter,
): Promise<string> {
  return trafficText(subject, await requestsOfLastHour(client, filter));
}
